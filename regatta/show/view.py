"""What a person shall see of a race, as data. It is worked out once; renderers only draw it.

All text is untrusted (names of servers and hosts, errors); each renderer escapes it. `Text between
backticks` is code.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import shorten
from typing import Any, TypeVar

DECIDES, OPEN, FOLDED, APPENDIX = range(4)
"""A section is in the paper, the summary and the page; in the last two; in them, but folded on the
page; only on the page, folded, and in the appendix of the paper."""
COLUMNS = 80
"""Of a line on any terminal, so that a log has the same text."""
LONGEST_FIGURE = 24
"""Letters; longer ones are text, which wraps and is aligned on the left."""
Spec = dict[str, Any]
"""Vega-Lite."""
T = TypeVar("T")


@dataclass(frozen=True)
class Figure:
    """One entry of a table."""

    value: str
    interval: str = ""
    level: str = ""
    """What a ratio is a multiple of, with its own interval; or a remark."""
    mark: str = ""
    """★, ☆ or ?"""
    number: float | None = None
    """To sort by; None: last."""

    @property
    def line(self) -> str:
        """`★1.24 [1.10–1.39]; 612 [602–619]`"""
        first = f"{self.mark}{self.value}"
        if self.interval:
            first += f" {self.interval}" if self.interval[0] == "±" else f" [{self.interval}]"
        return f"{first}; {self.level}" if self.level else first


@dataclass(frozen=True)
class Heading:
    title: str
    unit: str = ""
    says: str = ""
    """What it means."""
    rank: int = DECIDES
    """Who sees the column, as of a section."""

    @property
    def line(self) -> str:
        return f"{self.title}, {self.unit}" if self.unit else self.title


@dataclass(frozen=True)
class Row:
    name: str
    figures: tuple[Figure, ...]
    mark: str = ""
    """★ or ☆"""
    remarks: tuple[str, ...] = ()
    """Below the name."""


@dataclass(frozen=True)
class Table:
    title: str
    says: str
    """How to read it."""
    header: tuple[Heading, ...]
    """The first is that of the names."""
    rows: tuple[Row, ...]

    def is_text(self, column: int) -> bool:
        """Whether a column of figures has sentences instead."""
        return any(len(row.figures[column].value) > LONGEST_FIGURE for row in self.rows)

    def for_rank(self, rank: int) -> "Table":
        """Without the columns that come later."""
        ranks = enumerate(heading.rank for heading in self.header[1:])
        return self._columns([at for at, of in ranks if of <= rank])

    def parts(self, fits: Callable[["Table"], bool]) -> Iterator["Table"]:
        """With as many columns each as fit; the sentence below the last."""
        first, last = 0, len(self.header) - 1
        while first < last:
            end = first + 1
            while end < last and fits(self._columns(range(first, end + 1))):
                end += 1
            part = self._columns(range(first, end))
            yield part if end == last else replace(part, says="")
            first = end

    def _columns(self, of: Collection[int]) -> "Table":
        """With the names and these columns of figures."""
        rows = (replace(row, figures=tuple(row.figures[at] for at in of)) for row in self.rows)
        header = (self.header[0], *(self.header[at + 1] for at in of))
        return replace(self, header=header, rows=tuple(rows))


def plain_table(
    title: str, says: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> Table:
    """Of text: the name of a row, then its figures, each with its interval on a second line."""
    return Table(
        title,
        says,
        tuple(map(Heading, header)),
        tuple(Row(name, tuple(map(in_lines, figures))) for name, *figures in rows),
    )


def table_of(
    title: str, says: str, records: Sequence[T], columns: Mapping[str, Callable[[T], str]]
) -> tuple[Table, ...]:
    """The same with a row a record, named by the first column; empty without records.

    A column is a heading and a function of a record."""
    rows = [[figure(record) for figure in columns.values()] for record in records]
    return (plain_table(title, says, list(columns), rows),) if rows else ()


def in_lines(text: str) -> Figure:
    value, _, interval = text.partition("\n")
    return Figure(value, interval.replace("\n", "; "))


@dataclass(frozen=True)
class Panel:
    """One plot of a chart."""

    title: str
    unit: str
    spec: Spec
    """Without configuration, as wide as its container."""


@dataclass(frozen=True)
class Chart:
    """Plots that are read side by side."""

    name: str
    """Unique in the view; the base name of its files."""
    title: str
    says: str
    panels: tuple[Panel, ...]
    decides: bool = False
    """Whether the paper has it."""
    wide: bool = False
    """Whether it is as wide as the page."""


@dataclass(frozen=True)
class Section:
    title: str
    says: str = ""
    """The finding, in one sentence."""
    text: tuple[str, ...] = ()
    """Paragraphs."""
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    printed: str = ""
    """What a program printed."""
    sections: tuple["Section", ...] = ()
    quiet: tuple[str, ...] = ()
    """How to read it, in small print."""
    markdown: str = ""
    """What the user wrote."""
    tabs: bool = False
    """Its sections are alternatives: a page shows one at a time."""
    rank: int = DECIDES
    """Who sees it: from here on, fewer."""
    name: str = ""
    """Of a link to it."""
    state: str = ""
    """A verdict, for its colour: supported, refuted, undecided, too or not."""

    def every(self) -> Iterator["Section"]:
        """Itself and all below it."""
        yield self
        for section in self.sections:
            yield from section.every()


@dataclass(frozen=True)
class Note:
    """A caveat: a sentence for the report, and a line with a remedy for the screen."""

    sentence: str
    what: str = ""
    """The problem in a few words; empty if no action is needed."""
    do: str = ""
    """The remedy."""
    link: str = ""
    """The section that lists the trials."""
    whole: bool = False
    """Whether the screen shows the problem in full."""

    @property
    def line(self) -> str:
        """For the screen: a long problem is cut, the remedy never."""
        if not self.what:
            return ""
        if self.whole:
            return f"{self.what}: {self.do}"
        room = COLUMNS - len(f": {self.do}")
        return f"{shorten(self.what, room, placeholder=' …')}: {self.do}"


@dataclass(frozen=True)
class Screen:
    """The end of a race: what fits on 24 lines."""

    verdicts: tuple[str, ...]
    """One for each group of cells."""
    tables: tuple[Table, ...]
    """A row a contender, a column a step; the title is the group's. All say the same."""
    quiet: str
    """What the marks mean."""
    lines: tuple[str, ...]
    """Held rates, sittings and claims."""


@dataclass(frozen=True)
class View:
    title: str
    facts: tuple[str, ...]
    """When and where it was raced."""
    contenders: dict[str, str]
    """In the order of every table and chart, with what each is."""
    notes: tuple[Note, ...]
    screen: Screen
    sections: tuple[Section, ...] = field(default=())

    def every(self) -> Iterator[Section]:
        for section in self.sections:
            yield from section.every()

    def charts(self) -> Iterator[Chart]:
        for section in self.every():
            yield from section.charts
