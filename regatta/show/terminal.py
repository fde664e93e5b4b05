"""The view on a terminal or in a log: the screen at the end of a race, all of it, and a table."""

from collections.abc import Iterator
from textwrap import shorten

from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from regatta.show.numbers import plural
from regatta.show.overviews import overviews, print_lines
from regatta.show.palette import styles
from regatta.show.text import plain, put
from regatta.show.view import COLUMNS, FOLDED, Figure, Row, Section, Table, View

ANY_WIDTH = 100_000
INDENT = 2
GAP = "  "


def print_table(table: Grid, console: Console) -> None:
    """The table itself if every word and every column that must not wrap fits; else its rows, one
    below another, each a line with its first cell and a line for each of the others."""
    console.print(table if fit(table, console) else Group(*records(table, console)))


def fit(table: Grid, console: Console) -> bool:
    """Whether it can be shown without breaking a word. Sets the widths of its columns if it must
    wrap, as Rich would break words of one while another has room."""
    needs = [column_needs(column, console) for column in table.columns]
    whole, wanted = width_of(table, console), sum(need.span for need in needs)
    spare = console.width - whole + wanted
    if 0 <= spare < wanted:
        for column, need in zip(table.columns, needs, strict=True):
            column.width = need.minimum + spare * need.span // wanted
    return spare >= 0


def width_of(table: Grid, console: Console) -> int:
    """Of a table in which nothing wraps."""
    return Measurement.get(console, console.options.update_width(ANY_WIDTH), table).maximum


def column_needs(column: Column, console: Console) -> Measurement:
    """The widths at which no word breaks, and at which nothing wraps."""
    wide = console.options.update_width(ANY_WIDTH)
    found = [Measurement.get(console, wide, cell) for cell in (column.header, *column.cells)]
    fixed = column.min_width or 0
    least, most = (max(fixed, *ends) for ends in zip(*found, strict=True))
    return Measurement(most if column.no_wrap else least, most)


def records(table: Grid, console: Console) -> Iterator[RenderableType]:
    if table.title:
        yield table.title
    headings = [in_one_line(column.header, " ") for column in table.columns[1:]]
    for label, *cells in zip(*(column.cells for column in table.columns), strict=True):
        yield stripped(in_one_line(label))
        grid = Grid.grid(padding=(0, len(GAP), 0, 0))
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


LINES = 24
PROMPT_LINES = 3
"""Lines kept free for the path of the report, the hint on `--explain` and the next prompt."""
MOST_VERDICTS, MOST_NOTES = 4, 3
LONG_NAME = 48
"""A column of names as long as this wraps."""


def print_view(view: View, console: Console) -> None:
    """All but what is only for the page."""
    for one in view.sections:
        _print_section(one, list(view.contenders), console, "bold underline")
    console.print()
    put(console, *(note.sentence for note in view.notes), style="yellow")


def _print_section(section: Section, contenders: list[str], console: Console, style: str) -> None:
    says_something = any(one.says or one.text or one.tables for one in section.every())
    if section.rank > FOLDED or not says_something:
        return
    console.print()
    put(console, section.title, style=style)
    put(console, *filter(None, [section.says]), style="bold")
    for table in section.tables:
        console.print()
        draw_table(table, contenders, console)
    put(console, *section.text)
    for one in section.sections:
        _print_section(one, contenders, console, "bold")
    put(console, *section.quiet, style="dim")


def draw_table(table: Table, contenders: list[str], console: Console) -> None:
    """Figures in as many parts as needed to avoid wrapping; a list if they are too wide alone."""
    put(console, *filter(None, [table.title]), style="dim")

    def fits(part: Table) -> bool:
        return width_of(_grid(part, contenders, console), console) <= console.width

    is_text = any(map(table.is_text, range(len(table.header) - 1)))
    parts = [table] if is_text else list(table.parts(fits))
    for part in parts if all(map(fits, parts)) else [table]:
        print_table(_grid(part, contenders, console), console)
    put(console, *filter(None, [table.says]), style="dim")


def _grid(table: Table, contenders: list[str], console: Console) -> Grid:
    grid = Grid(box=None, header_style="dim", pad_edge=False, padding=(0, 1))
    short_names = all(len(row.name) < LONG_NAME for row in table.rows)
    for at, heading in enumerate(table.header):
        title = f"{heading.title}\n{heading.unit}" if heading.unit else heading.title
        grid.add_column(
            _plain_lines(title, console),
            justify="left" if not at or table.is_text(at - 1) else "right",
            overflow="fold",
            vertical="top",
            no_wrap=at == 0 and short_names,
        )
    known = styles(contenders)
    for row in table.rows:
        colour = known[row.name].colour if row.name in known else ""
        grid.add_row(_name(row, colour, console), *(_entry(one, console) for one in row.figures))
    return grid


def _plain_lines(text: str, console: Console) -> Text:
    return Text("\n").join(plain(line, console) for line in text.split("\n"))


def _name(row: Row, colour: str, console: Console) -> Text:
    text = plain(f"{row.mark} " if row.mark else "", console, "bold yellow")
    text.append_text(plain(row.name, console, f"{'bold ' if row.mark else ''}{colour}".strip()))
    for remark in row.remarks:
        text.append_text(_plain_lines(f"\n  {remark}", console))
    return text


def _entry(figure: Figure, console: Console) -> Text:
    """A ratio and its interval above its level; a figure above its interval, or with ± beside."""
    text = plain(f"{figure.mark}{figure.value}", console, "bold" if figure.mark else "")
    if figure.interval:
        between = " " if figure.level else "" if figure.interval.startswith("±") else "\n"
        text.append(between).append_text(plain(figure.interval, console, "dim"))
    if figure.level:
        text.append("\n").append_text(plain(figure.level, console, "dim"))
    return text


def print_screen(view: View, console: Console) -> None:
    """The winner, one table and the warnings, on 80 columns and 24 lines, in a log too."""
    above, below = list(_verdicts(view, console)), list(_below(view, console))
    around = (max(1, len(text.wrap(console, console.width))) for text in [*above, *below])
    room = LINES - PROMPT_LINES - sum(around)
    for line in above:
        console.print(line)
    shown = list(overviews(view.screen.tables, list(view.contenders), console))
    for number, lines in enumerate(shown):
        # The first table is always shown in full.
        left = len(shown) - number
        if number and len(lines) + (left > 1) > room:
            put(console, f"{plural(left, 'more table')} in the report", style="dim")
            break
        print_lines(lines, console)
        room -= len(lines)
    for line in below:
        console.print(line)


def _verdicts(view: View, console: Console) -> Iterator[Text]:
    """A line a group of cells, then the title of the tables."""
    verdicts = view.screen.verdicts
    yield Text()
    for says in verdicts[:MOST_VERDICTS]:
        # About two lines: the table has all names.
        yield plain(shorten(says, 2 * COLUMNS, placeholder=" …"), console, "bold")
    if (more := len(verdicts) - MOST_VERDICTS) > 0:
        count = plural(more, "more group of cells", "more groups of cells")
        yield plain(f"{count} in the report", console, "dim")
    yield Text()
    yield plain(view.screen.title, console, "dim")


def _below(view: View, console: Console) -> Iterator[Text]:
    if view.screen.quiet:
        yield plain(view.screen.quiet, console, "dim")
    for line in view.screen.lines:
        yield plain(line, console)
    wrong = [note.line for note in view.notes if note.line]
    for line in wrong[:MOST_NOTES]:
        yield plain(line, console, "yellow")
    if len(wrong) > MOST_NOTES:
        yield plain(f"{plural(len(wrong) - MOST_NOTES, 'more note')} in the report", console, "dim")
