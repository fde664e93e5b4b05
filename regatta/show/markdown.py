"""The view as Markdown: summary.md, and what papers and lab reports are converted from."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from regatta.show.text import LINES, escape, marked_up, printable
from regatta.show.view import FOLDED, Row, Section, Table, View

MADE = "<!-- Made from ledger.sqlite by regatta; make it again with `regatta report`. -->"
DEEPEST = 6
WIDEST = 60
"""Characters beyond which a column gets no more of a page's width."""


@dataclass(frozen=True)
class Writer:
    """How much it writes, and how wide."""

    rank: int = FOLDED
    """Of the last sections that it has."""
    charts: dict[str, str] = field(default_factory=dict)
    """The file of each chart that has one, by its name."""
    most_columns: int = 1_000
    """Of figures in a table; wider ones are split."""

    def section(self, section: Section, level: int) -> Iterator[str]:
        if not self._has(section):
            return
        yield from (f"{'#' * min(level, DEEPEST)} {marked_up(section.title)}", "")
        if section.says:
            yield from (f"**{marked_up(section.says)}**", "")
        for text in section.text:
            yield from (marked_up(text), "")
        if section.printed:
            text = printable(section.printed, LINES).replace("```", "'''").rstrip("\n")
            yield from ("```", text, "```", "")
        for table in section.tables:
            shown = table.for_rank(self.rank)
            for part in shown.parts(lambda of: len(of.header) <= self.most_columns + 1):
                yield from table_lines(part)
        for chart in section.charts:
            if file := self.charts.get(chart.name):
                says = " ".join(filter(None, (f"{chart.title}.", chart.says)))
                yield from (f"![{marked_up(says)}]({file})", "")
        if section.markdown:
            yield from (section.markdown, "")
        for inner in section.sections:
            yield from self.section(inner, level + 1)
        for text in section.quiet:
            yield from (marked_up(text), "")

    def _has(self, section: Section) -> bool:
        """Whether anything of it is written."""
        if section.rank > self.rank:
            return False
        content = (section.says, section.text, section.printed, section.tables, section.markdown)
        drawn = any(chart.name in self.charts for chart in section.charts)
        return any(content) or drawn or any(map(self._has, section.sections))


def to_markdown(view: View) -> str:
    """summary.md: all but what is only for the page, without charts."""
    lines = [f"# {escape(view.title)}", "", MADE, ""]
    for verdict in view.screen.verdicts:
        lines += [f"- {marked_up(verdict)}", ""]
    for note in view.notes:
        lines += [f"**{marked_up(note.sentence)}**", ""]
    for section in view.sections:
        lines += Writer().section(section, 2)
    return "\n".join(lines).rstrip() + "\n"


def table_lines(table: Table) -> Iterator[str]:
    """Each column has as many dashes as letters, by which a converter divides a page's width."""
    titles = [marked_up(heading.line) for heading in table.header]
    rows = [[_name(row), *(marked_up(figure.line) for figure in row.figures)] for row in table.rows]
    widths = [2 + min(WIDEST, max(map(len, cells))) for cells in zip(titles, *rows, strict=True)]
    yield from (f"*{marked_up(table.title)}*", "") if table.title else ()
    yield f"| {' | '.join(titles)} |"
    rules = [
        "-" * (width - 1) + ":" if at and not table.is_text(at - 1) else ":" + "-" * (width - 1)
        for at, width in enumerate(widths)
    ]
    yield f"| {' | '.join(rules)} |"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
    if table.says:
        yield from (marked_up(table.says), "")


def _name(row: Row) -> str:
    remarks = f" ({', '.join(map(escape, row.remarks))})" if row.remarks else ""
    return f"{marked_up(row.name)}{f' {row.mark}' if row.mark else ''}{remarks}"
