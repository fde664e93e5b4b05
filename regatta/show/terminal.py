"""The view on a terminal or in a log: the screen at the end of a race, and all of it."""

from collections.abc import Iterator
from dataclasses import replace

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from regatta.show.fitted import print_table, width_of
from regatta.show.numbers import plural
from regatta.show.palette import styles
from regatta.show.text import encodable, plain, printable
from regatta.show.view import FOLDED, Figure, Row, Section, Table, View

LINES = 24
PROMPT_LINES = 3
"""Lines kept free for the path of the report, the hint on `--explain` and the next prompt."""
MOST_VERDICTS, MOST_NOTES = 4, 3
MOST_ROWS = 17
"""The number of designs."""
FEWEST, WIDEST_NAME = 8, 24
GAPS = (3, 2, 1)
"""Between columns; the widest that fits is used."""


def print_view(view: View, console: Console) -> None:
    """All but what is only for the page."""
    for one in view.sections:
        _print_section(one, list(view.contenders), console, "bold underline")
    console.print()
    for note in view.notes:
        console.print(plain(note.sentence, console, "yellow"))


def _print_section(section: Section, contenders: list[str], console: Console, style: str) -> None:
    if section.rank > FOLDED or not any(map(_says_something, section.every())):
        return
    console.print()
    console.print(plain(section.title, console, style))
    if section.says:
        console.print(plain(section.says, console, "bold"))
    for table in section.tables:
        console.print()
        draw_table(table, contenders, console)
    for text in section.text:
        console.print(plain(text, console))
    for one in section.sections:
        _print_section(one, contenders, console, "bold")
    for text in section.quiet:
        console.print(plain(text, console, "dim"))


def _says_something(section: Section) -> bool:
    return bool(section.says or section.text or section.tables)


def draw_table(table: Table, contenders: list[str], console: Console) -> None:
    """Figures in as many parts as needed to avoid wrapping; a list if they are too wide alone."""
    if table.title:
        console.print(plain(table.title, console, "dim"))

    def fits(part: Table) -> bool:
        return width_of(_grid(part, contenders, console), console) <= console.width

    is_text = any(map(table.is_text, range(len(table.header) - 1)))
    parts = [table] if is_text else list(table.parts(fits))
    for part in parts if all(map(fits, parts)) else [table]:
        print_table(_grid(part, contenders, console), console)
    if table.says:
        console.print(plain(table.says, console, "dim"))


def _grid(table: Table, contenders: list[str], console: Console) -> Grid:
    grid = Grid(box=None, header_style="dim", pad_edge=False, padding=(0, 1))
    for at, heading in enumerate(table.header):
        title = f"{heading.title}\n{heading.unit}" if heading.unit else heading.title
        grid.add_column(
            plain_lines(title, console),
            justify="left" if not at or table.is_text(at - 1) else "right",
            overflow="fold",
            vertical="top",
            no_wrap=at == 0 and _short_names(table),
        )
    known = styles(contenders)
    for row in table.rows:
        colour = known[row.name].colour if row.name in known else ""
        grid.add_row(_name(row, colour, console), *(_entry(one, console) for one in row.figures))
    return grid


def _short_names(table: Table) -> bool:
    return all(len(row.name) < 2 * WIDEST_NAME for row in table.rows)


def plain_lines(text: str, console: Console) -> Text:
    return Text("\n").join(plain(line, console) for line in text.split("\n"))


def _name(row: Row, colour: str, console: Console) -> Text:
    text = plain(f"{row.mark} " if row.mark else "", console, "bold yellow")
    text.append_text(plain(row.name, console, f"{'bold ' if row.mark else ''}{colour}".strip()))
    for remark in row.remarks:
        text.append_text(plain_lines(f"\n  {remark}", console))
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
            console.print(plain(f"{plural(left, 'more table')} in the report", console, "dim"))
            break
        for line in lines:
            console.print(line, soft_wrap=True)
        room -= len(lines)
    for line in below:
        console.print(line)


def _verdicts(view: View, console: Console) -> Iterator[Text]:
    """A line a group of cells, then the title of the tables."""
    verdicts = view.screen.verdicts
    yield Text()
    for says in verdicts[:MOST_VERDICTS]:
        yield plain(says, console, "bold")
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


def overviews(
    tables: tuple[Table, ...], contenders: list[str], console: Console
) -> Iterator[list[Text]]:
    """Each line by line: tables with the same rows side by side as far as the width allows."""
    beside: list[Table] = []
    for table in (_encoded(table, console) for table in tables):
        for part in table.parts(lambda of: _width([of], GAPS[-1], console) <= console.width):
            if beside and not _fit([*beside, part], console):
                yield _lines(beside, contenders, console)
                beside = []
            beside.append(part)
    if beside:
        yield _lines(beside, contenders, console)


def _encoded(table: Table, console: Console) -> Table:
    """With the characters that the terminal has, before anything is aligned."""

    def shown(figure: Figure) -> Figure:
        value, interval, mark = (
            _shown(text, console) for text in (figure.value, figure.interval, figure.mark)
        )
        return replace(figure, value=value, interval=interval, mark=mark)

    return replace(
        table,
        title=_shown(table.title, console),
        rows=tuple(replace(row, figures=tuple(map(shown, row.figures))) for row in table.rows),
    )


def _fit(tables: list[Table], console: Console) -> bool:
    """Whether they can share rows, each title above its own columns."""
    names, axis = _names(tables[0]), tables[0].header[0]
    return (
        all(_names(table) == names and table.header[0] == axis for table in tables)
        and all(cell_len(table.title) < _span(table, GAPS[-1]) for table in tables)
        and _width(tables, GAPS[-1], console) <= console.width
    )


def _names(table: Table) -> list[str]:
    return [row.name for row in table.rows]


def _span(table: Table, gap: int) -> int:
    return sum(gap + _column_width(table, at) for at in range(len(table.header) - 1))


def _width(tables: list[Table], gap: int, console: Console) -> int:
    return _indent(tables, console) + sum(_span(table, gap) for table in tables)


def _indent(tables: list[Table], console: Console) -> int:
    """Width of the first column, which has the names."""
    names = [name for table in tables for name in (*_names(table), table.header[0].title)]
    widest = max(cell_len(_shown(name, console)) for name in names)
    return min(widest, WIDEST_NAME, max(FEWEST, console.width // 3))


def _column_width(table: Table, at: int) -> int:
    figures = [row.figures[at] for row in table.rows]
    halves = max((cell_len(one.interval) for one in figures), default=0)
    alone = max((cell_len(one.value + one.interval) for one in figures), default=0)
    title = cell_len(table.header[at + 1].title)
    return max(title, 1 + max(_value_width(table, at) + halves, alone))


def _value_width(table: Table, at: int) -> int:
    """Of values with a half-width, which are right-aligned."""
    widths = (cell_len(row.figures[at].value) for row in table.rows if row.figures[at].interval)
    return max(widths, default=0)


def _shown(text: str, console: Console) -> str:
    return encodable(printable(text), console)


def _lines(tables: list[Table], contenders: list[str], console: Console) -> list[Text]:
    gap = next((gap for gap in GAPS if _width(tables, gap, console) <= console.width), GAPS[-1])
    indent = _indent(tables, console)
    columns = [(table, at) for table in tables for at in range(len(table.header) - 1)]
    steps = "".join(
        " " * gap + f"{table.header[at + 1].title:>{_column_width(table, at)}}"
        for table, at in columns
    )
    axis = tables[0].header[0].title
    lines = [
        Text(_titles(tables, indent, gap), style="bold"),
        Text(f"{axis[:indent]:<{indent}}{steps}", style="dim"),
    ]
    colours = styles(contenders)
    rows = [number for number, name in enumerate(_names(tables[0])) if name in colours]
    levels = [number for number, name in enumerate(_names(tables[0])) if name not in colours]
    for number in [*rows[:MOST_ROWS], *levels]:
        name = tables[0].rows[number].name
        style = colours[name].colour if name in colours else "dim"
        line = Text(_cut(_shown(name, console), indent, console), style=style)
        for table, at in columns:
            line.append(" " * gap)
            line.append_text(_overview_entry(table, at, number))
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


def _titles(tables: list[Table], indent: int, gap: int) -> str:
    """Each centred above its columns; a single title may be wider than they are."""
    if len(tables) == 1:
        return tables[0].title
    found = " " * indent
    for table in tables:
        title = table.title
        spare = _span(table, gap) - gap - cell_len(title)
        found += " " * (gap + spare // 2) + title + " " * (spare - spare // 2)
    return found.rstrip()


def _overview_entry(table: Table, at: int, number: int) -> Text:
    width, figure = _column_width(table, at), table.rows[number].figures[at]
    if not figure.value:
        return Text(" " * width)
    before = _value_width(table, at) - cell_len(figure.value) if figure.interval else 0
    text = Text(" " * max(0, before))
    text.append(figure.mark or " ", style="bold yellow")
    style = "bold" if figure.mark else "" if figure.interval else "dim"
    text.append(figure.value, style=style)
    text.append(figure.interval, style="dim")
    text.append(" " * (width - text.cell_len))
    return text
