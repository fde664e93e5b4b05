"""The records that every reader produces and every check examines."""

from collections.abc import Mapping
from dataclasses import dataclass

from regatta.review.names import Quantity, mistaken
from regatta.review.numbers import Number

DESIGN, CONNECTIONS, SIDE, CORE, PART = "design", "connections", "side", "core", "part"
"""Keys with a special meaning; all others only distinguish records."""
WITHIN = (CORE, PART)
"""Records that differ only in these are of one run: kinds of core, and CPUs, cores or sockets."""
CLIENT, INTERVAL = "client", "interval"
LONGEST_LABEL = 80


@dataclass(frozen=True)
class Figure:
    """One printed number. Times are in seconds, rates per second, shares in %, clocks in GHz."""

    name: str
    """As in claims: `branch_misses`; a rate is `branches_per_s`, a share `…_percent`."""
    value: float
    half: float
    """Largest rounding error."""
    text: str
    """The number as printed."""
    unit: str
    """As printed; empty for a count."""
    line: int
    running: float = 100.0
    """Share of the time for which the counter ran, in %."""
    user_only: bool = False
    by_group: bool = False
    """Whether perf may have computed it from counts of another group of counters."""

    def same_as(self, other: "Figure") -> bool:
        """Whether both may be roundings of the same number."""
        return abs(self.value - other.value) <= (self.half + other.half) * 1.001

    @property
    def words(self) -> str:
        """`416,830,285 cycles`, `102.63 msec`."""
        return f"{self.text} {self.unit or self.name.replace('_', ' ')}"


@dataclass(frozen=True)
class Record:
    """The figures of one run: one output of a program, or one row of a table."""

    file: str
    line: int
    keys: Mapping[str, str]
    figures: Mapping[str, Figure]
    repeated: bool = False
    """Whether it is a mean of several runs, printed with its spread."""
    table: int | None = None
    """The line where its table begins, as a file may hold several. None: a program printed it."""
    column: int | None = None
    """Its column, in a table with a column for each run."""
    intervals: tuple["Interval", ...] = ()
    """The intervals that perf printed, if any: then its figures are their sums."""
    summary: "Record | None" = None
    """What perf printed for all intervals together."""
    tool: str = ""
    """The load generator that printed it, if one did."""

    @property
    def label(self) -> str:
        text = ", ".join(value for value in self.keys.values() if value)
        return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"

    @property
    def place(self) -> tuple[object, ...]:
        """Identifies its run: records of two kinds of core share it, columns of a table do not."""
        own = (value for key, value in self.keys.items() if key not in WITHIN)
        return self.file, self.line, self.column, *own

    @property
    def design(self) -> str:
        return self.keys.get(DESIGN, "")

    @property
    def printed(self) -> tuple["Record", ...]:
        """The records that the file contains: intervals and a summary instead of their sums."""
        if not self.intervals:
            return (self,)
        parts = tuple(one.record for one in self.intervals if one.record.figures)
        return parts if self.summary is None else (*parts, self.summary)

    def same_but(self, *names: str) -> tuple[object, ...]:
        """Equal for records that differ only in these keys.

        Rows of different tables are not compared; outputs of perf are, even from several files.
        """
        rest = tuple((name, value) for name, value in self.keys.items() if name not in names)
        return (None if self.table is None else (self.file, self.table), self.tool, *rest)


@dataclass(frozen=True)
class Interval:
    """A part of a run: the counts since perf last printed."""

    record: Record
    """Without figures if nothing ran in the interval."""
    begins_s: float
    ends_s: float

    @property
    def length_s(self) -> float:
        return self.ends_s - self.begins_s


@dataclass(frozen=True)
class Reading:
    """Everything that was read from one file."""

    file: str
    form: str
    """The form of the file, in words."""
    records: tuple[Record, ...]
    taken: frozenset[int] = frozenset()
    """The lines that were understood."""
    unread: tuple[tuple[int, str], ...] = ()
    """Cells that should hold a number but do not: line, and a sentence."""
    torn: tuple[tuple[int, str], ...] = ()
    """Rows with more cells than headings, the same way."""
    left: tuple[int, ...] = ()
    """The lines with digits that no reader understood."""

    @property
    def is_empty(self) -> bool:
        return not (self.records or self.unread or self.torn)


RATE_DECIMALS, LARGEST_RATE = 3, 1000.0
"""perf prints rates with three decimals, and changes to the next prefix (K, M, G) from here."""


def figure_of(quantity: Quantity, number: Number, text: str, line: int) -> Figure:
    """A rate under the name of a count gets a name of its own, so no check confuses the two."""
    whole = quantity.is_count and quantity.scale == 1
    if whole and number.decimals == RATE_DECIMALS and 0 < number.value < LARGEST_RATE:
        quantity = mistaken(quantity.name) if number.value % 1 else quantity
    exact = whole and number.half == 0.5
    return Figure(
        quantity.name,
        number.value * quantity.scale,
        0.0 if exact else number.half * quantity.scale,
        text.strip(),
        quantity.unit,
        line,
        by_group=quantity.by_group,
    )
