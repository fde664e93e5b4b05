"""Tables that tell who won, line by line, side by side as far as a terminal's width allows."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from regatta.show.palette import styles
from regatta.show.text import encodable, printable
from regatta.show.view import Table

MOST_ROWS = 17
"""The number of designs."""
FEWEST, WIDEST_NAME = 8, 24
GAPS = (3, 2, 1)
"""Between columns; the widest that fits is used."""


def print_overviews(tables: Sequence[Table], contenders: list[str], console: Console) -> None:
    for lines in overviews(tables, contenders, console):
        print_lines(lines, console)


def print_lines(lines: list[Text], console: Console) -> None:
    for line in lines:
        console.print(line, soft_wrap=True)


class ScreenColumn(NamedTuple):
    title: str
    width: int
    cells: list[Text]
    """As wide as the column, one a row."""


class Overview(NamedTuple):
    """A table with the characters that the terminal has, before anything is aligned."""

    title: str
    axis: str
    names: list[str]
    columns: list[ScreenColumn]

    def width(self, gap: int) -> int:
        """Without the names."""
        return sum(gap + column.width for column in self.columns)


def overviews(
    tables: Sequence[Table], contenders: list[str], console: Console
) -> Iterator[list[Text]]:
    """Each line by line: tables with the same rows side by side as far as the width allows."""
    beside: list[Overview] = []
    for table in tables:
        for part in table.parts(
            lambda of: _width([_overview(of, console)], GAPS[-1], console) <= console.width
        ):
            one = _overview(part, console)
            if beside and not _fit([*beside, one], console):
                yield _lines(beside, contenders, console)
                beside = []
            beside.append(one)
    if beside:
        yield _lines(beside, contenders, console)


def _overview(table: Table, console: Console) -> Overview:
    columns = [_column(table, at, console) for at in range(len(table.header) - 1)]
    names = [row.name for row in table.rows]
    return Overview(_shown(table.title, console), table.header[0].title, names, columns)


def _column(table: Table, at: int, console: Console) -> ScreenColumn:
    """Values that have a half-width are aligned with one another at its left."""
    figures = [
        tuple(_shown(text, console) for text in (one.mark, one.value, one.interval))
        for one in (row.figures[at] for row in table.rows)
    ]
    title = table.header[at + 1].title
    values = max((cell_len(value) for _, value, half in figures if half), default=0)
    halves = max((cell_len(half) for _, _, half in figures), default=0)
    alone = max((cell_len(value + half) for _, value, half in figures), default=0)
    width = max(cell_len(title), 1 + max(values + halves, alone))
    cells = []
    for mark, value, half in figures:
        text = Text(" " * (values - cell_len(value) if half else 0))
        if value:
            text.append(mark or " ", style="bold yellow")
            text.append(value, style="bold" if mark else "" if half else "dim")
            text.append(half, style="dim")
        text.append(" " * (width - text.cell_len))
        cells.append(text)
    return ScreenColumn(title, width, cells)


def _shown(text: str, console: Console) -> str:
    return encodable(printable(text), console)


def _fit(tables: list[Overview], console: Console) -> bool:
    """Whether they can share rows, each title above its own columns."""
    first, gap = tables[0], GAPS[-1]
    return (
        all((table.names, table.axis) == (first.names, first.axis) for table in tables)
        and all(cell_len(table.title) < table.width(gap) for table in tables)
        and _width(tables, gap, console) <= console.width
    )


def _width(tables: list[Overview], gap: int, console: Console) -> int:
    return _indent(tables, console) + sum(table.width(gap) for table in tables)


def _indent(tables: list[Overview], console: Console) -> int:
    """Width of the first column, which has the names."""
    names = [name for table in tables for name in (*table.names, table.axis)]
    widest = max(cell_len(_shown(name, console)) for name in names)
    return min(widest, WIDEST_NAME, max(FEWEST, console.width // 3))


def _lines(tables: list[Overview], contenders: list[str], console: Console) -> list[Text]:
    gap = next((gap for gap in GAPS if _width(tables, gap, console) <= console.width), GAPS[-1])
    indent = _indent(tables, console)
    columns = [column for table in tables for column in table.columns]
    steps = "".join(" " * gap + f"{column.title:>{column.width}}" for column in columns)
    lines = [
        Text(_titles(tables, indent, gap), style="bold"),
        Text(f"{tables[0].axis[:indent]:<{indent}}{steps}", style="dim"),
    ]
    colours = styles(contenders)
    names = list(enumerate(tables[0].names))
    rows = [one for one in names if one[1] in colours]
    levels = [one for one in names if one[1] not in colours]
    for number, name in [*rows[:MOST_ROWS], *levels]:
        style = colours[name].colour if name in colours else "dim"
        line = Text(_cut(_shown(name, console), indent, console), style=style)
        for column in columns:
            line.append(" " * gap).append_text(column.cells[number])
        line.rstrip()
        if name not in colours:
            line.stylize("dim")
        lines.append(line)
    if len(rows) > MOST_ROWS:
        lines.append(Text(f"and {len(rows) - MOST_ROWS} more in the report", style="dim"))
    return lines


def _cut(name: str, width: int, console: Console) -> str:
    """Cut in the middle if too long: names mostly differ at one end."""
    if cell_len(name) <= width:
        return set_cell_size(name, width)
    dots = encodable("…", console)
    front = set_cell_size(name, (width - len(dots)) // 2)
    back = name
    while cell_len(front) + len(dots) + cell_len(back) > width:
        back = back[1:]
    return set_cell_size(front + dots + back, width)


def _titles(tables: list[Overview], indent: int, gap: int) -> str:
    """Each centred above its columns; a single title may be wider than they are."""
    if len(tables) == 1:
        return tables[0].title
    found = " " * indent
    for table in tables:
        spare = table.width(gap) - gap - cell_len(table.title)
        found += " " * (gap + spare // 2) + table.title + " " * (spare - spare // 2)
    return found.rstrip()
