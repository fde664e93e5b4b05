"""A table that a terminal is too narrow for becomes a list: no word is cut or broken."""

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

ANY_WIDTH = 100_000
INDENT = 2
GAP = "  "


def print_table(table: Table, console: Console) -> None:
    """The table itself if every word and every column that must not wrap fits; else its rows, one
    below another, each a line with its first cell and a line for each of the others."""
    console.print(table if fit(table, console) else Group(*records(table, console)))


def fit(table: Table, console: Console) -> bool:
    """Whether it can be shown without breaking a word. Sets the widths of its columns if it must
    wrap, as Rich would break words of one while another has room."""
    needs = [column_needs(column, console) for column in table.columns]
    whole, wanted = width_of(table, console), sum(need.span for need in needs)
    spare = console.width - whole + wanted
    if 0 <= spare < wanted:
        for column, need in zip(table.columns, needs, strict=True):
            column.width = need.minimum + spare * need.span // wanted
    return spare >= 0


def width_of(table: Table, console: Console) -> int:
    """Of a table in which nothing wraps."""
    return Measurement.get(console, console.options.update_width(ANY_WIDTH), table).maximum


def column_needs(column: Column, console: Console) -> Measurement:
    """The widths at which no word breaks, and at which nothing wraps."""
    wide = console.options.update_width(ANY_WIDTH)
    found = [Measurement.get(console, wide, cell) for cell in (column.header, *column.cells)]
    fixed = column.min_width or 0
    least, most = (max(fixed, *ends) for ends in zip(*found, strict=True))
    return Measurement(most if column.no_wrap else least, most)


def records(table: Table, console: Console) -> Iterator[RenderableType]:
    if table.title:
        yield table.title
    headings = [in_one_line(column.header, " ") for column in table.columns[1:]]
    for label, *cells in zip(*(column.cells for column in table.columns), strict=True):
        yield stripped(in_one_line(label))
        grid = Table.grid(padding=(0, len(GAP), 0, 0))
        grid.add_column(width=INDENT - len(GAP))
        grid.add_column(style="dim", overflow="fold")
        grid.add_column(overflow="fold")
        for heading, value in zip(headings, map(in_one_line, cells), strict=True):
            if value:
                grid.add_row("", heading, value)
        fit(grid, console)
        yield grid


def stripped(text: Text) -> Text:
    text.rstrip()
    return text[len(text.plain) - len(text.plain.lstrip()) :]


def in_one_line(cell: RenderableType, between: str = GAP) -> Text:
    text = cell if isinstance(cell, Text) else Text.from_markup(str(cell))
    return Text(between).join(line for line in text.split("\n") if line.plain.strip())
