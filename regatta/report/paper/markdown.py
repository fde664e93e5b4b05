"""Tables and documents as Markdown; plots are links to their SVG files."""

from regatta.report.paper.elements import Column, Document, PaperTable, Section
from regatta.report.paper.figures import both_in_one
from regatta.report.text.markdown import escape

MADE = "<!-- Made from ledger.sqlite by regatta; make it again with `regatta report --tables`. -->"


def document_markdown(document: Document) -> str:
    lines = [f"# {escape(document.title)}", "", MADE, "", *_paragraphs(document.text)]
    for section in document.sections:
        lines += _section(section)
    return "\n".join(lines).rstrip() + "\n"


def table_markdown(table: PaperTable, heading: str = "##") -> str:
    titles = [table.head, "unit", *map(title_of, table.columns)]
    lines = [
        f"{heading} {escape(table.title)}",
        "",
        f"| {' | '.join(map(escape, titles))} |",
        "| --- | --- |" + " ---: |" * len(table.columns),
    ]
    for row in table.rows:
        figures = map(both_in_one, row.figures, table.columns)
        lines.append(f"| {' | '.join(map(escape, (row.label, row.unit, *figures)))} |")
    return "\n".join([*lines, "", *_paragraphs((table.says,))])


def title_of(column: Column) -> str:
    return f"{column.title}, {column.source}" if column.source else column.title


def _section(section: Section) -> list[str]:
    lines = [f"## {escape(section.title)}", "", *_paragraphs(section.text)]
    lines += [table_markdown(table, "###") for table in section.tables]
    for plot in section.plots:
        lines += [f"### {escape(plot.title)}", "", f"![{escape(plot.title)}]({plot.name}.svg)", ""]
        lines += _paragraphs((plot.says,))
    return lines


def _paragraphs(text: tuple[str, ...]) -> list[str]:
    return [line for words in text if words for line in (escape(words), "")]
