"""The records that every reader produces and every check examines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regatta.review.names import Quantity, mistaken
from regatta.review.numbers import Number

DESIGN, CORE, PART = "design", "core", "part"
"""Keys of records; beside these, `connections` and `side` have a meaning."""
WITHIN = (CORE, PART)
"""Records that differ only in these are of one run: kinds of core, and CPUs, cores or sockets."""
LONGEST_LABEL = 80
RATE_DECIMALS, LARGEST_RATE = 3, 1000.0
"""perf prints rates with three decimals, and changes to the next prefix (K, M, G) from here."""


@dataclass(frozen=True)
class Figure:
    """One printed number. Times are in seconds, rates per second, shares in %, clocks in GHz."""

    name: str  # as in claims: `branch_misses`; a rate is `branches_per_s`, a share `…_percent`
    value: float
    half: float  # the largest rounding error
    text: str  # the number as printed
    unit: str  # as printed; empty for a count
    line: int
    running: float = 100.0  # share of the time for which the counter ran, in %
    user_only: bool = False
    by_group: bool = False  # perf may have computed it from counts of another group of counters

    def same_as(self, other: "Figure") -> bool:
        """Whether both may be roundings of the same number."""
        return abs(self.value - other.value) <= (self.half + other.half) * 1.001

    @property
    def words(self) -> str:
        """`416,830,285 cycles`, `102.63 msec`."""
        return f"{self.text} {self.unit or self.name.replace('_', ' ')}"


def figure_of(quantity: Quantity, number: Number, text: str, line: int) -> Figure:
    """A rate under the name of a count gets a name of its own, so no check confuses the two."""
    whole = quantity.is_count and quantity.scale == 1
    if whole and number.decimals == RATE_DECIMALS and 0 < number.value < LARGEST_RATE:
        quantity = mistaken(quantity.name) if number.value % 1 else quantity
    half = 0.0 if whole and number.half == 0.5 else number.half * quantity.scale
    value, by_group = number.value * quantity.scale, quantity.by_group
    return Figure(quantity.name, value, half, text.strip(), quantity.unit, line, by_group=by_group)


@dataclass(frozen=True)
class Record:
    """The figures of one run: one output of a program, or one row of a table."""

    file: str
    line: int
    keys: Mapping[str, str]
    figures: Mapping[str, Figure]
    repeated: bool = False  # a mean of several runs, printed with its spread
    table: int | None = None  # the line where its table begins; None: a program printed it
    column: int | None = None  # its column, in a table with a column for each run
    tool: str = ""  # the load generator that printed it, if one did

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

    def same_but(self, *names: str) -> tuple[object, ...]:
        """Equal for records that differ only in these keys.

        Rows of different tables are not compared; outputs of perf are, even from several files.
        """
        rest = tuple((name, value) for name, value in self.keys.items() if name not in names)
        return (None if self.table is None else (self.file, self.table), self.tool, *rest)


@dataclass(frozen=True)
class Reading:
    """Everything that was read from one file."""

    file: str
    form: str  # in words
    records: tuple[Record, ...]
    taken: frozenset[int] = frozenset()  # the lines that were understood
    unread: tuple[tuple[int, str], ...] = ()  # cells without a number: line, and a sentence
    torn: tuple[tuple[int, str], ...] = ()  # rows with more cells than headings, the same way
    left: tuple[int, ...] = ()  # the lines with digits that no reader understood

    @property
    def is_empty(self) -> bool:
        return not (self.records or self.unread or self.torn)


def merged(file: str, form: str, parts: Sequence[Reading]) -> Reading:
    """What several readers took from one file, by line."""
    records = sorted((one for part in parts for one in part.records), key=lambda one: one.line)
    taken = frozenset(line for part in parts for line in part.taken)
    unread, torn = (
        tuple(one for part in parts for one in getattr(part, name)) for name in ("unread", "torn")
    )
    return Reading(file, form, tuple(records), taken, unread, torn)
