"""The view on a terminal or in a log: the screen at the end of a race, all of it, and a table."""

from collections.abc import Iterator, Sequence
from textwrap import shorten

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from regatta.show.numbers import plural
from regatta.show.palette import styles
from regatta.show.text import encodable, plain, printable, put
from regatta.show.view import COLUMNS, FOLDED, Figure, Row, Section, Table, View

ANY_WIDTH = 100_000
GAP = "  "
LINES = 24
PROMPT_LINES = 3
"""Lines kept free for the path of the report, the hint on `--explain` and the next prompt."""
MOST_VERDICTS, MOST_NOTES = 4, 3
LONG_NAME = 48
"""A column of names as long as this wraps."""
MOST_ROWS = 25
"""Of an overview: the number of designs."""
FEWEST, WIDEST_NAME = 8, 24
GAPS = (3, 2, 1)
"""Between columns of an overview; the widest that fits is used."""


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
    headings = [in_one_line(column.header, " ") for column in table.columns[1:]]
    for label, *cells in zip(*(column.cells for column in table.columns), strict=True):
        yield Text(in_one_line(label).plain.strip())
        grid = Grid.grid(padding=(0, len(GAP), 0, 0))
        grid.add_column(width=0)
        grid.add_column(style="dim", overflow="fold")
        grid.add_column(overflow="fold")
        for heading, value in zip(headings, map(in_one_line, cells), strict=True):
            if value:
                grid.add_row("", heading, value)
        fit(grid, console)
        yield grid


def in_one_line(cell: RenderableType, between: str = GAP) -> Text:
    text = cell if isinstance(cell, Text) else Text.from_markup(str(cell))
    return Text(between).join(line for line in text.split("\n") if line.plain.strip())


def print_view(view: View, console: Console) -> None:
    """All but what is only for the page."""
    for section in view.sections:
        _print_section(section, list(view.contenders), console, "bold underline")
    console.print()
    put(console, *(note.sentence for note in view.notes), style="yellow")


def _print_section(section: Section, contenders: list[str], console: Console, style: str) -> None:
    says_something = any(part.says or part.text or part.tables for part in section.every())
    if section.rank > FOLDED or not says_something:
        return
    console.print()
    put(console, section.title, style=style)
    put(console, *filter(None, [section.says]), style="bold")
    for table in section.tables:
        console.print()
        draw_table(table, contenders, console)
    put(console, *section.text)
    for inner in section.sections:
        _print_section(inner, contenders, console, "bold")
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
        grid.add_row(
            _name(row, colour, console), *(_entry(figure, console) for figure in row.figures)
        )
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
        console.print(*lines, sep="\n", soft_wrap=True)
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
    for table in view.screen.tables[:1]:
        yield plain(table.says, console, "dim")


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


def overviews(
    tables: Sequence[Table], contenders: list[str], console: Console
) -> Iterator[list[Text]]:
    """Each line by line: tables with the same rows side by side as far as the width allows."""
    beside: list[Table] = []
    for table in tables:
        for part in table.parts(lambda of: _room([of], console) <= console.width):
            if beside and not _stand_beside([*beside, part], console):
                yield _overview(beside, contenders, console)
                beside = []
            beside.append(part)
    if beside:
        yield _overview(beside, contenders, console)


def _stand_beside(tables: list[Table], console: Console) -> bool:
    """Whether they can share rows, each title above its own columns."""
    rows = [(table.header[0], [row.name for row in table.rows]) for table in tables]
    return (
        all(of == rows[0] for of in rows)
        and all(cell_len(table.title) < _room([table], console, 0) for table in tables)
        and _room(tables, console) <= console.width
    )


def _columns(table: Table, console: Console) -> list[list[Text]]:
    """Of each the title and a cell a row, all equally wide. Values that have a half-width are
    aligned with one another at its left."""
    found = []
    for at, heading in enumerate(table.header[1:]):
        figures = [row.figures[at] for row in table.rows]
        values = max((cell_len(of.value) for of in figures if of.interval), default=0)
        cells = []
        for figure in figures:
            text = Text(" " * (values - cell_len(figure.value) if figure.interval else 0))
            if figure.value:
                style = "bold" if figure.mark else "" if figure.interval else "dim"
                text.append_text(plain(figure.mark or " ", console, "bold yellow"))
                text.append_text(plain(figure.value, console, style))
                text.append_text(plain(figure.interval, console, "dim"))
            cells.append(text)
        width = max(cell_len(heading.title), *(cell.cell_len for cell in cells), 1)
        for cell in cells:
            cell.pad_right(width - cell.cell_len)
        found.append([Text(f"{heading.title:>{width}}"), *cells])
    return found


def _indent(tables: list[Table], console: Console) -> int:
    """Width of the first column, which has the names."""
    names = [name for of in tables for name in (of.header[0].title, *(row.name for row in of.rows))]
    widest = max(cell_len(encodable(printable(name), console)) for name in names)
    return min(widest, WIDEST_NAME, max(FEWEST, console.width // 3))


def _room(tables: list[Table], console: Console, indent: int | None = None) -> int:
    """The least width in which they stand side by side."""
    columns = [column for table in tables for column in _columns(table, console)]
    first = _indent(tables, console) if indent is None else indent
    return first + sum(GAPS[-1] + column[0].cell_len for column in columns)


def _overview(tables: list[Table], contenders: list[str], console: Console) -> list[Text]:
    """The titles, the header, and the rows, contenders first."""
    parts = [_columns(table, console) for table in tables]
    columns = [column for part in parts for column in part]
    indent, spare = _indent(tables, console), console.width - _room(tables, console)
    gap = next(gap for gap in GAPS if (gap - GAPS[-1]) * len(columns) <= spare or gap == GAPS[-1])
    title = plain("" if len(tables) > 1 else tables[0].title, console, "bold")
    if len(tables) > 1:
        title.append(" " * indent)
        for table, part in zip(tables, parts, strict=True):
            above = plain(table.title, console)
            above.align("center", sum(gap + column[0].cell_len for column in part) - gap)
            title.append(" " * gap).append_text(above)
    title.rstrip()
    colours = styles(contenders)
    first = encodable(tables[0].header[0].title, console)
    lines = [title, Text(f"{first[:indent]:<{indent}}", style="dim")]
    names = [row.name for row in tables[0].rows]
    ranked = sorted(range(len(names)), key=lambda at: names[at] not in colours)
    raced = sum(name in colours for name in names)
    for at in [*ranked[:raced][:MOST_ROWS], *ranked[raced:]]:
        style = colours[names[at]].colour if names[at] in colours else "dim"
        lines.append(Text(_cut(encodable(printable(names[at]), console), indent, console), style))
        for column in columns:
            lines[-1].append(" " * gap).append_text(column[at + 1])
        lines[-1].rstrip()
        if names[at] not in colours:
            lines[-1].stylize("dim")
    for column in columns:
        lines[1].append(" " * gap).append_text(column[0])
    if raced > MOST_ROWS:
        lines.append(Text(f"and {raced - MOST_ROWS} more in the report", style="dim"))
    return lines


def _cut(name: str, width: int, console: Console) -> str:
    """Cut in the middle if too long: names mostly differ at one end."""
    if cell_len(name) <= width:
        return set_cell_size(name, width)
    dots = encodable("…", console)
    front = (width - len(dots)) // 2
    whole = set_cell_size(name, front) + dots + name[front + len(dots) - width :]
    return set_cell_size(whole, width)
