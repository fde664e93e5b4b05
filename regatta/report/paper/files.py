"""The files of a document: each table and plot in files of its own, and all in one."""

from pathlib import Path
from typing import Any

import vl_convert

from regatta.errors import RegattaError
from regatta.report.charts.theme import LIGHT, config
from regatta.report.csv import written
from regatta.report.paper.elements import Document, PaperTable, Plot, Spec
from regatta.report.paper.latex import document_latex, table_latex
from regatta.report.paper.markdown import document_markdown, table_markdown
from regatta.report.paper.pdf import document_pdf
from regatta.report.pictures import with_legends
from regatta.report.text.printable import all_printable

WIDTHS = {1: 460, 2: 250, 3: 170}
"""Pixels of a panel, by how many stand side by side."""
ABREAST = 3


def picture(plot: Plot) -> Spec:
    """All its panels in one specification with one legend."""
    width = WIDTHS[min(len(plot.panels), ABREAST)]
    datasets: Spec = {}
    parts: list[Spec] = []
    params: list[Any] = []
    schema = ""
    for panel in plot.panels:
        spec = dict(panel.spec)
        datasets |= spec.pop("datasets", {})
        params = spec.pop("params", params)
        schema = spec.pop("$schema")
        parts.append({**spec, "width": width, "title": {"text": panel.label, "fontSize": 12}})
    drawn: Spec = all_printable(
        {
            "$schema": schema,
            "datasets": datasets,
            "params": params,
            "concat": with_legends(parts),
            "columns": min(len(parts), ABREAST),
            "bounds": "flush",
            "spacing": 64,
            "resolve": {"scale": {"color": "shared", "shape": "shared", "strokeDash": "shared"}},
        }
    )
    return drawn


def to_svg(plot: Plot) -> str:
    return vl_convert.vegalite_to_svg(picture(plot), config=config(LIGHT))


def to_pdf(plot: Plot) -> bytes:
    return vl_convert.vegalite_to_pdf(picture(plot), config=config(LIGHT))


HEADER = ("metric", "unit", "column", "source", "value", "low", "high", "trials", "state")


def table_csv(table: PaperTable) -> str:
    """`source`: of a published figure; empty if measured here."""
    return written(
        HEADER,
        (
            {"metric": row.label, "unit": row.unit, "column": column.title}
            | {"source": column.source, **vars(estimate)}
            for row in table.rows
            for column, estimate in zip(table.columns, row.figures, strict=True)
            if estimate is not None
        ),
    )


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
