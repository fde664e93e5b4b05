"""The one record that every reader makes and every check reads."""

from collections.abc import Mapping
from dataclasses import dataclass

DESIGN, CONNECTIONS, SIDE, CORE = "design", "connections", "side", "core"
"""Keys with a meaning of their own. Others tell records apart, and that is all."""
CLIENT = "client"
INTERVAL = "interval"
LONGEST_LABEL = 80


@dataclass(frozen=True)
class Figure:
    """One printed number. Times are in seconds, rates a second, shares in %, clocks in GHz."""

    name: str
    """As claims write it: `branch_misses`; a rate is `branches_per_s`, a share `…_percent`."""
    value: float
    half: float
    """How far off rounding can have left it."""
    text: str
    """The number as it is printed."""
    unit: str
    """As it is printed; empty for a count."""
    line: int
    running: float = 100.0
    """Share of the time for which the counter ran, in %."""
    user_only: bool = False

    def same_as(self, other: "Figure") -> bool:
        """Two roundings of one number are."""
        return abs(self.value - other.value) <= (self.half + other.half) * 1.001

    @property
    def words(self) -> str:
        """`416,830,285 cycles`, `102.63 msec`."""
        return f"{self.text} {self.unit or self.name.replace('_', ' ')}"


@dataclass(frozen=True)
class Record:
    """What is said of one run: one output of perf, or one row of a table."""

    file: str
    line: int
    keys: Mapping[str, str]
    figures: Mapping[str, Figure]
    repeated: bool = False
    """It is a mean of several runs, with how far they differ."""
    table: int | None = None
    """On which line its table begins: a file may hold several. None: perf printed it."""
    column: int | None = None
    """Of a table with a column for each run: which is this one's."""
    intervals: tuple["Interval", ...] = ()
    """Its parts, where perf printed these: then its figures are their sums."""
    summary: "Record | None" = None
    """What perf printed of all intervals together."""

    @property
    def label(self) -> str:
        text = ", ".join(value for value in self.keys.values() if value)
        return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"

    @property
    def place(self) -> tuple[object, ...]:
        """Of its run: records of two kinds of core share it, and columns of a table do not."""
        own = (value for key, value in self.keys.items() if key != CORE)
        return self.file, self.line, self.column, *own

    @property
    def design(self) -> str:
        return self.keys.get(DESIGN, "")

    @property
    def printed(self) -> tuple["Record", ...]:
        """What stands there of it: where there are intervals its sums do not."""
        if not self.intervals:
            return (self,)
        parts = tuple(one.record for one in self.intervals if one.record.figures)
        return parts if self.summary is None else (*parts, self.summary)

    def same_but(self, *names: str) -> tuple[object, ...]:
        """What it shares with those that differ from it in these keys alone.

        Rows of different tables are not compared; outputs of perf are, in however many files.
        """
        rest = tuple((name, value) for name, value in self.keys.items() if name not in names)
        return (None if self.table is None else (self.file, self.table), *rest)


@dataclass(frozen=True)
class Interval:
    """A part of a run: what was counted since perf last printed."""

    record: Record
    """Without figures if nothing ran meanwhile."""
    begins_s: float
    ends_s: float

    @property
    def length_s(self) -> float:
        return self.ends_s - self.begins_s


@dataclass(frozen=True)
class Unread:
    """Something that stands where a number belongs."""

    line: int
    heading: str
    text: str


@dataclass(frozen=True)
class Torn:
    """A row with more cells than headings: which is whose nobody knows."""

    line: int
    cells: tuple[str, ...]
    headings: int


@dataclass(frozen=True)
class Reading:
    """All that one file holds."""

    file: str
    form: str
    """In words."""
    records: tuple[Record, ...]
    unread: tuple[Unread, ...] = ()
    torn: tuple[Torn, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.records or self.unread or self.torn)
