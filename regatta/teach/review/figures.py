"""Numbers as people print them, and the records that every reader produces."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from regatta.teach.review.names import Quantity, mistaken

# Numbers as people print them: 416,830,285 and 41,68,30,285, 1.234,56 and 1 234,56. perf and
# spreadsheets follow the locale. A single mark before three digits is ambiguous (1,234): the other
# numbers of the file decide.

POINTS = ".,\u066b"  # decimal marks; the last is Arabic
GAPS = " \u00a0\u2009\u202f'\u2019_\u066c"  # marks that only group digits
MOST_LETTERS = 60
SMALLEST, LARGEST = 1e-15, 1e20
"""No counter has more than 64 bits; larger numbers would overflow floats in later arithmetic."""
MARK = f"[{re.escape(POINTS + GAPS)}]"
NUMBER = rf"[+-]?\d+(?:{MARK}\d+)*"
FULL = re.compile(rf"({NUMBER})(?:[eE]([+-]?\d{{1,3}}))?")


@dataclass(frozen=True)
class Number:
    value: float
    half: float  # half a unit of its last digit: the largest rounding error
    decimals: int


def parse_number(text: str, point: str = ".") -> Number | None:
    """None if it is not a number in any locale. `point`: the decimal mark where two would fit.

    A number that makes sense only with another decimal mark is read with that one.
    """
    text = text.strip()
    matched = FULL.fullmatch(text) if len(text) <= MOST_LETTERS else None
    if matched is None:
        return None
    digits, exponent = matched[1], int(matched[2] or 0)
    for mark in (point, *POINTS.replace(point, "")):
        if (found := _with_point(digits, mark, exponent)) is not None:
            return found
    return None


def parse_decimal(text: str) -> Number | None:
    """A number known to have decimals, such as a time: its last mark is the decimal mark."""
    marks = re.findall(MARK, text.strip())
    return parse_number(text, marks[-1] if marks and marks[-1] in POINTS else ".")


def point_of(texts: Iterable[str]) -> str:
    """The decimal mark of most of the unambiguous numbers; `.` if there are none."""
    votes = Counter(mark for text in texts if (mark := _shown_point(text.strip())))
    return votes.most_common(1)[0][0] if votes else "."


def is_indian(text: str) -> bool:
    """Whether digits are grouped by lakh and crore: by two, and the last three."""
    whole = text.strip()
    return any(_grouping(re.split(MARK, part)) == 2 for part in (whole, whole.rpartition(".")[0]))


def _with_point(digits: str, point: str, exponent: int) -> Number | None:
    head, mark, tail = digits.rpartition(point)
    if not mark or point in head:
        head, tail = digits, ""  # 416.830.285: a mark that occurs twice groups digits
    groups = re.split(MARK, head.lstrip("+-"))
    mixed = len(set(re.findall(MARK, head))) > 1 or re.search(MARK, tail) is not None
    if mixed or not _grouping(groups):
        return None
    value = float(f"{re.sub(MARK, '', head)}.{tail or 0}e{exponent}")
    if value and not SMALLEST <= abs(value) <= LARGEST:
        return None
    return Number(value, 0.5 * 10.0 ** (exponent - len(tail)), len(tail))


def _grouping(parts: list[str]) -> int:
    """Digits in a group: 3, or 2 in India; 1 if there are no groups; 0 if they are invalid."""
    if len(parts) == 1:
        return 1
    sizes = [len(part) for part in parts]
    if sizes[-1] != 3:
        return 0
    if sizes[0] <= 3 and all(size == 3 for size in sizes[1:]):
        return 3
    return 2 if sizes[0] <= 2 and all(size == 2 for size in sizes[1:-1]) else 0


def _shown_point(text: str) -> str | None:
    """The decimal mark, if this number is unambiguous."""
    marks = re.findall(MARK, text)
    if not marks:
        return None
    last = marks[-1]
    if len(set(marks)) > 1:
        return last if last in POINTS else None
    if len(marks) > 1:
        return {",": ".", ".": ","}.get(last)
    return last if last in POINTS and len(text.rpartition(last)[2]) != 3 else None


DESIGN, CORE, PART = "design", "core", "part"
"""Keys of records; beside these, `connections` and `side` have a meaning."""
WITHIN = (CORE, PART)
"""Records that differ only in these are of one run: kinds of core, and CPUs, cores or sockets."""
LONGEST_LABEL = 80
RATE_DECIMALS, LARGEST_RATE = 3, 1000.0
"""perf prints rates with three decimals, and changes to the next prefix (K, M, G) from here."""


@dataclass(frozen=True)
class ReportedFigure:
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

    def same_as(self, other: "ReportedFigure") -> bool:
        """Whether both may be roundings of the same number."""
        return abs(self.value - other.value) <= (self.half + other.half) * 1.001

    @property
    def words(self) -> str:
        """`416,830,285 cycles`, `102.63 msec`."""
        return f"{self.text} {self.unit or self.name.replace('_', ' ')}"


def figure_of(quantity: Quantity, number: Number, text: str, line: int) -> ReportedFigure:
    """A rate under the name of a count gets a name of its own, so no check confuses the two."""
    whole = quantity.is_count and quantity.scale == 1
    if whole and number.decimals == RATE_DECIMALS and 0 < number.value < LARGEST_RATE:
        quantity = mistaken(quantity.name) if number.value % 1 else quantity
    half = 0.0 if whole and number.half == 0.5 else number.half * quantity.scale
    value, by_group = number.value * quantity.scale, quantity.by_group
    return ReportedFigure(
        quantity.name, value, half, text.strip(), quantity.unit, line, by_group=by_group
    )


@dataclass(frozen=True)
class Record:
    """The figures of one run: one output of a program, or one row of a table."""

    file: str
    line: int
    keys: Mapping[str, str]
    figures: Mapping[str, ReportedFigure]
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
