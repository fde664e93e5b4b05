"""The table of the screen: a row a contender, a column for each step of each group of cells.

Groups stand side by side as far as the width allows; what does not fit comes below.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from regatta.analysis.analyse import Analysis, CellResult, Group
from regatta.analysis.metrics import PRIMARY
from regatta.analysis.standings import Verdict
from regatta.report.numbers import UNBOUNDED, around
from regatta.report.palette import looks
from regatta.report.plain import encodable, printable
from regatta.report.sentences import mark

MOST_ROWS = 17
"""As many as there are designs."""
FEWEST, WIDEST_NAME = 8, 24
RIVAL = "?"
NO_END = f"±{UNBOUNDED}"
GAPS = (3, 2, 1)
"""Between columns: the widest that fits."""


@dataclass(frozen=True)
class Figure:
    """What stands in one place of the table."""

    sign: str
    value: str
    half: str
    """How far the interval reaches; empty where there is none."""


@dataclass(frozen=True)
class Column:
    title: str
    """The step of the axis."""
    figures: dict[str, Figure]
    """By contender."""

    @property
    def value_width(self) -> int:
        """Of the values that stand before a half-width: they end below one another."""
        return max((cell_len(one.value) for one in self.figures.values() if one.half), default=0)

    @property
    def width(self) -> int:
        halves = max((cell_len(one.half) for one in self.figures.values()), default=0)
        alone = max((cell_len(one.value) for one in self.figures.values()), default=0)
        return max(cell_len(self.title), 1 + max(self.value_width + halves, alone))


@dataclass(frozen=True)
class Part:
    """Columns of one group, side by side below its title."""

    title: str
    axis: str
    """What the columns' titles count."""
    columns: list[Column]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for column in self.columns for name in column.figures))

    def width(self, gap: int) -> int:
        return sum(gap + column.width for column in self.columns)


def tables(analysis: Analysis, console: Console) -> Iterator[list[Text]]:
    """Each as its lines; together they show all groups."""
    beside: list[Part] = []
    for group in analysis.groups:
        for part in _parts(group, console):
            if beside and not _fit([*beside, part], console):
                yield _lines(analysis, beside, console)
                beside = []
            beside.append(part)
    if beside:
        yield _lines(analysis, beside, console)


def _parts(group: Group, console: Console) -> Iterator[Part]:
    """The group's columns, in as many parts as the width asks for."""
    title, axis = _said(group.title, console), group.axis.many
    columns: list[Column] = []
    for verdict, step in zip(group.by_step, group.steps, strict=True):
        figures = {
            result.cell.contender: _figure(result, verdict, console) for result in group.at(step)
        }
        wider = [*columns, Column(f"{step:,}", figures)]
        if columns and _width([Part(title, axis, wider)], GAPS[-1], console) > console.width:
            yield Part(title, axis, columns)
            wider = wider[-1:]
        columns = wider
    if columns:
        yield Part(title, axis, columns)


def _figure(result: CellResult, verdict: Verdict, console: Console) -> Figure:
    value, half = around(result.estimates["server", PRIMARY.name])
    if result.failed and not result.ok:
        value = "failed"
    pieces = sign(verdict, result) or " ", value, f"±{half}" if half else ""
    return Figure(*(encodable(piece, console) for piece in pieces))


def has_no_end(result: CellResult) -> bool:
    """Whether its figure stands with a half-width that says nothing."""
    return around(result.estimates["server", PRIMARY.name])[1] == UNBOUNDED


def sign(verdict: Verdict, result: CellResult) -> str:
    """The star, or what marks a figure that may be as good and cannot win; empty for others."""
    name = result.cell.contender
    known = result.estimates["server", PRIMARY.name].value is not None
    return mark(verdict, name) or (RIVAL if known and name in verdict.rivals else "")


def _fit(parts: list[Part], console: Console) -> bool:
    """Whether they may share their rows, each title above its own columns."""
    first = parts[0]
    return (
        all(part.names == first.names and part.axis == first.axis for part in parts)
        and all(cell_len(part.title) < part.width(GAPS[-1]) for part in parts)
        and _width(parts, GAPS[-1], console) <= console.width
    )


def _width(parts: list[Part], gap: int, console: Console) -> int:
    return _indent(parts, console) + sum(part.width(gap) for part in parts)


def _indent(parts: list[Part], console: Console) -> int:
    """Of the first column, which has the names."""
    names = [_said(name, console) for part in parts for name in part.names]
    widest = max(cell_len(text) for text in [*names, *(part.axis for part in parts)])
    return min(widest, WIDEST_NAME, max(FEWEST, console.width // 3))


def _said(text: str, console: Console) -> str:
    return encodable(printable(text), console)


def _lines(analysis: Analysis, parts: list[Part], console: Console) -> list[Text]:
    names, columns = parts[0].names, [column for part in parts for column in part.columns]
    gap = next((gap for gap in GAPS if _width(parts, gap, console) <= console.width), GAPS[-1])
    indent = _indent(parts, console)
    steps = "".join(" " * gap + f"{column.title:>{column.width}}" for column in columns)
    lines = [
        Text(_titles(parts, indent, gap), style="bold"),
        Text(f"{parts[0].axis[:indent]:<{indent}}{steps}", style="dim"),
    ]
    colours = looks(analysis.contenders)
    for name in names[:MOST_ROWS]:
        line = Text(_cut(_said(name, console), indent, console), style=colours[name].colour)
        for column in columns:
            line.append(" " * gap)
            line.append_text(_entry(column, column.figures.get(name)))
        line.rstrip()
        lines.append(line)
    if len(names) > MOST_ROWS:
        lines.append(Text(f"and {len(names) - MOST_ROWS} more in the report", style="dim"))
    return lines


def _cut(name: str, width: int, console: Console) -> str:
    """Without its middle where it is too long: names that differ mostly differ at an end."""
    if cell_len(name) <= width:
        return set_cell_size(name, width)
    dots = encodable("…", console)
    front = set_cell_size(name, (width - len(dots)) // 2)
    back = name
    while cell_len(front) + len(dots) + cell_len(back) > width:
        back = back[1:]
    return set_cell_size(front + dots + back, width)


def _titles(parts: list[Part], indent: int, gap: int) -> str:
    """Each above the middle of its columns; of one part alone it may be longer than they are."""
    if len(parts) == 1:
        return parts[0].title
    titles = "".join(" " * gap + _centred(part, gap) for part in parts)
    return f"{' ' * indent}{titles}".rstrip()


def _centred(part: Part, gap: int) -> str:
    spare = part.width(gap) - gap - cell_len(part.title)
    return " " * (spare // 2) + part.title + " " * (spare - spare // 2)


def _entry(column: Column, figure: Figure | None) -> Text:
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
