"""The files of a document: each table and plot in files of its own, and all in one."""

from pathlib import Path

from regatta.errors import RegattaError
from regatta.report.paper.csv import table_csv
from regatta.report.paper.elements import Document
from regatta.report.paper.latex import document_latex, table_latex
from regatta.report.paper.markdown import document_markdown, table_markdown
from regatta.report.paper.pdf import document_pdf
from regatta.report.paper.pictures import to_pdf, to_svg


def write_document(document: Document, folder: Path, name: str = "report") -> list[Path]:
    """NAME.md, NAME.tex and NAME.pdf; a TABLE.md, .csv and .tex each, and a PLOT.svg and .pdf."""
    pictures = {plot.name: to_pdf(plot) for plot in document.plots}
    contents: dict[str, str | bytes] = {
        f"{name}.md": document_markdown(document),
        f"{name}.tex": document_latex(document),
        f"{name}.pdf": document_pdf(document, pictures),
    }
    for table in document.tables:
        contents[f"{table.name}.md"] = table_markdown(table)
        contents[f"{table.name}.csv"] = table_csv(table)
        contents[f"{table.name}.tex"] = table_latex(table)
    for plot in document.plots:
        contents[f"{plot.name}.svg"] = to_svg(plot)
        contents[f"{plot.name}.pdf"] = pictures[plot.name]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in contents.items():
            data = content.encode("utf-8", "replace") if isinstance(content, str) else content
            (folder / file).write_bytes(data)
    except OSError as error:
        raise RegattaError(
            f"cannot write tables to {folder}: {error.strerror or error}; "
            "free some space or name another folder"
        ) from error
    return [folder / file for file in contents]
