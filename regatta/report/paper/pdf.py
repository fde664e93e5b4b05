"""A document as PDF, typeset by typst."""

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import typst

from regatta.report.paper.elements import Document, PaperTable
from regatta.report.paper.figures import both_in_one
from regatta.report.paper.latex import MOST_COLUMNS
from regatta.report.text.printable import LINES, all_printable

TEMPLATE = "report.typ"
DATA = "report.json"


def document_pdf(document: Document, pictures: Mapping[str, bytes]) -> bytes:
    return typeset("regatta.report.paper", _plain(document), pictures)


def typeset(package: str, content: object, pictures: Mapping[str, bytes]) -> bytes:
    """Typesets the template of `package`; `pictures`: PDF by name.

    The content goes as JSON beside the template. typst shows its strings literally, so no server's
    name becomes markup.
    """
    with TemporaryDirectory(prefix="regatta-") as name:
        folder = Path(name)
        for picture, drawn in pictures.items():
            (folder / f"{picture}.pdf").write_bytes(drawn)
        (folder / DATA).write_text(json.dumps(all_printable(content, LINES)), encoding="utf-8")
        template = files(package) / "templates" / TEMPLATE
        (folder / TEMPLATE).write_text(template.read_text(encoding="utf-8"), encoding="utf-8")
        return typst.compile(folder / TEMPLATE, root=folder)


def _plain(document: Document) -> dict[str, object]:
    return {
        "title": document.title,
        "text": list(document.text),
        "sections": [
            {
                "title": section.title,
                "text": list(section.text),
                "tables": [
                    _table(part) for table in section.tables for part in table.parts(MOST_COLUMNS)
                ],
                "plots": [
                    {"file": f"{plot.name}.pdf", "title": plot.title, "says": plot.says}
                    for plot in section.plots
                ],
            }
            for section in document.sections
        ],
    }


def _table(table: PaperTable) -> dict[str, object]:
    return {
        "title": table.title,
        "says": table.says,
        "head": [table.head, "unit"],
        "columns": [{"title": column.title, "source": column.source} for column in table.columns],
        "rows": [
            [row.label, row.unit, *map(both_in_one, row.figures, table.columns)]
            for row in table.rows
        ],
    }
