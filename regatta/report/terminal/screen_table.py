"""The table of the screen: a row a contender, a column for each step of each group of cells.

Figures are ratios to the best of the column, in which machine drift cancels. The last row has the
level of the best. Groups are side by side as far as the width allows; the rest follows below.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from regatta.analysis.columns import AgainstBest
from regatta.analysis.results import Analysis, CellResult, Group
from regatta.analysis.standings import Verdict
from regatta.ledger.metrics import PRIMARY
from regatta.report.charts.palette import styles
from regatta.report.text.numbers import around, ratio_around
from regatta.report.text.printable import printable
from regatta.report.text.terminal import encodable
from regatta.report.text.verdicts import mark

MOST_ROWS = 17
"""The number of designs."""
FEWEST, WIDEST_NAME = 8, 24
RIVAL = "?"
REFERENCE = "1"
"""The figure of a column's best, which the others are multiples of."""
LEVELS = f"{REFERENCE}, in {PRIMARY.unit}"
GAPS = (3, 2, 1)
"""Between columns; the widest that fits is used."""


@dataclass(frozen=True)
class ScreenFigure:
    """One entry of the table."""

    sign: str
    value: str
    half: str
    """Half-width of the interval; empty without one."""


@dataclass(frozen=True)
class ScreenColumn:
    title: str
    """The step of the axis."""
    figures: dict[str, ScreenFigure]
    """By contender."""
    level: ScreenFigure | None
    """The level of the best; None if nothing is compared."""

    @property
    def value_width(self) -> int:
        """Of values with a half-width, which are right-aligned."""
        return max((cell_len(one.value) for one in self.figures.values() if one.half), default=0)

    @property
    def width(self) -> int:
        shown = [*self.figures.values(), *([self.level] if self.level else [])]
        halves = max((cell_len(one.half) for one in self.figures.values()), default=0)
        alone = max((cell_len(one.value + one.half) for one in shown), default=0)
        return max(cell_len(self.title), 1 + max(self.value_width + halves, alone))


@dataclass(frozen=True)
class ColumnGroup:
    """Columns of one group, side by side below its title."""

    title: str
    axis: str
    """The quantity in the column titles."""
    columns: list[ScreenColumn]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for column in self.columns for name in column.figures))

    def width(self, gap: int) -> int:
        return sum(gap + column.width for column in self.columns)


def tables(analysis: Analysis, console: Console) -> Iterator[list[Text]]:
    """Each table as its lines; together they cover all groups."""
    row: list[ColumnGroup] = []
    unit = f" {PRIMARY.unit}" if compares(analysis) else ""
    for group in analysis.groups:
        for part in _parts(group, unit, console):
            if row and not _fit([*row, part], console):
                yield _lines(analysis, row, console)
                row = []
            row.append(part)
    if row:
        yield _lines(analysis, row, console)


def compares(analysis: Analysis) -> bool:
    """Whether any figure is a ratio."""
    return any(_ratios(group, step) for group in analysis.groups for step in group.steps)


def _ratios(group: Group, step: int) -> dict[str, AgainstBest]:
    """By contender, for all that can be compared with the best."""
    return {
        one.contender: one
        for one in group.against
        if (one.at, one.metric) == (step, PRIMARY.name) and ratio_around(one)
    }


def _parts(group: Group, unit: str, console: Console) -> Iterator[ColumnGroup]:
    """The group's columns, in as many parts as the width requires."""
    title, axis = _shown(group.title, console), group.axis.many
    columns: list[ScreenColumn] = []
    for verdict, step in zip(group.by_step, group.steps, strict=True):
        wider = [*columns, _column(group, verdict, step, unit, console)]
        if columns and _width([ColumnGroup(title, axis, wider)], GAPS[-1], console) > console.width:
            yield ColumnGroup(title, axis, columns)
            wider = wider[-1:]
        columns = wider
    if columns:
        yield ColumnGroup(title, axis, columns)


def _column(group: Group, verdict: Verdict, step: int, unit: str, console: Console) -> ScreenColumn:
    """`unit`: for contenders that cannot be compared, whose level stands among ratios."""
    ratios = _ratios(group, step)
    best = next((one.best for one in ratios.values()), None)
    figures, level = {}, None
    for result in group.at(step):
        name = result.cell.contender
        marked = sign(verdict, result)
        absolute = around(result.estimates["server", PRIMARY.name])
        if name == best:
            level = _figure("", absolute, "", console)
            figures[name] = _figure(marked, (REFERENCE, ""), "", console)
        elif name in ratios:
            figures[name] = _figure(marked, ratio_around(ratios[name]) or absolute, "", console)
        elif result.failed and not result.ok:
            figures[name] = _figure(marked, ("failed", ""), "", console)
        else:
            known = result.estimates["server", PRIMARY.name].value is not None
            # A level among ratios is shown without its interval, which is in the report.
            level_alone = (absolute[0], "") if ratios else absolute
            figures[name] = _figure(marked, level_alone, unit if known else "", console)
    return ScreenColumn(f"{step:,}", figures, level)


def _figure(marked: str, around: tuple[str, str], unit: str, console: Console) -> ScreenFigure:
    value, half = around
    pieces = (value, f"±{half}{unit}") if half else (f"{value}{unit}", "")
    return ScreenFigure(*(encodable(piece, console) for piece in (marked or " ", *pieces)))


def sign(verdict: Verdict, result: CellResult) -> str:
    """The star, or the mark of a rival that cannot be compared; empty for others."""
    name = result.cell.contender
    known = result.estimates["server", PRIMARY.name].value is not None
    return mark(verdict, name) or (RIVAL if known and name in verdict.rivals else "")


def _fit(parts: list[ColumnGroup], console: Console) -> bool:
    """Whether they can share rows, each title above its own columns."""
    first = parts[0]
    return (
        all(part.names == first.names and part.axis == first.axis for part in parts)
        and all(cell_len(part.title) < part.width(GAPS[-1]) for part in parts)
        and _width(parts, GAPS[-1], console) <= console.width
    )


def _width(parts: list[ColumnGroup], gap: int, console: Console) -> int:
    return _indent(parts, console) + sum(part.width(gap) for part in parts)


def _indent(parts: list[ColumnGroup], console: Console) -> int:
    """Width of the first column, which has the names."""
    names = [_shown(name, console) for part in parts for name in part.names]
    rows = [*(part.axis for part in parts), LEVELS]
    widest = max(cell_len(text) for text in [*names, *rows])
    return min(widest, WIDEST_NAME, max(FEWEST, console.width // 3))


def _shown(text: str, console: Console) -> str:
    return encodable(printable(text), console)


def _lines(analysis: Analysis, parts: list[ColumnGroup], console: Console) -> list[Text]:
    names, columns = parts[0].names, [column for part in parts for column in part.columns]
    gap = next((gap for gap in GAPS if _width(parts, gap, console) <= console.width), GAPS[-1])
    indent = _indent(parts, console)
    steps = "".join(" " * gap + f"{column.title:>{column.width}}" for column in columns)
    lines = [
        Text(_titles(parts, indent, gap), style="bold"),
        Text(f"{parts[0].axis[:indent]:<{indent}}{steps}", style="dim"),
    ]
    colours = styles(analysis.contenders)
    for name in names[:MOST_ROWS]:
        line = Text(_cut(_shown(name, console), indent, console), style=colours[name].colour)
        for column in columns:
            line.append(" " * gap)
            line.append_text(_entry(column, column.figures.get(name)))
        line.rstrip()
        lines.append(line)
    if any(column.level for column in columns):
        lines.append(_levels(columns, indent, gap, console))
    if len(names) > MOST_ROWS:
        lines.append(Text(f"and {len(names) - MOST_ROWS} more in the report", style="dim"))
    return lines


def _levels(columns: list[ScreenColumn], indent: int, gap: int, console: Console) -> Text:
    line = Text(set_cell_size(_shown(LEVELS, console), indent))
    for column in columns:
        line.append(" " * gap)
        line.append_text(_entry(column, column.level))
    line.rstrip()
    line.stylize("dim")
    return line


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


def _titles(parts: list[ColumnGroup], indent: int, gap: int) -> str:
    """Each centred above its columns; a single title may be wider than they are."""
    if len(parts) == 1:
        return parts[0].title
    titles = "".join(" " * gap + _centred(part, gap) for part in parts)
    return f"{' ' * indent}{titles}".rstrip()


def _centred(part: ColumnGroup, gap: int) -> str:
    spare = part.width(gap) - gap - cell_len(part.title)
    return " " * (spare // 2) + part.title + " " * (spare - spare // 2)


def _entry(column: ScreenColumn, figure: ScreenFigure | None) -> Text:
    text = Text()
    if figure is None:
        return Text(" " * column.width)
    before = column.value_width - cell_len(figure.value) if figure.half else 0
    text.append(" " * max(0, before))
    text.append(figure.sign, style="bold yellow")
    text.append(figure.value, style="bold" if figure.sign.strip() else "" if figure.half else "dim")
    text.append(figure.half, style="dim")
    text.append(" " * (column.width - text.cell_len))
    return text
