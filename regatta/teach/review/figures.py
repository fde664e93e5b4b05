"""Numbers as people print them, and the records that every reader produces."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from regatta.teach.review.names import Quantity

# perf and spreadsheets follow the locale: 416,830,285 and 41,68,30,285, 1.234,56 and 1 234,56. A
# single mark before three digits is ambiguous (1,234): the other numbers of the file decide.

POINTS = ".,\u066b"  # decimal marks; the last is Arabic
GAPS = " \u00a0\u2009\u202f'\u2019_\u066c"  # marks that only group digits
MARK = f"[{re.escape(POINTS + GAPS)}]"
NUMBER = rf"[+-]?\d+(?:{MARK}\d+)*"
MOST_LETTERS = 60
SMALLEST, LARGEST = 1e-15, 1e20
"""No counter has more than 64 bits; larger numbers would overflow floats in later arithmetic."""


def _pattern(point: str) -> re.Pattern[str]:
    """Digits in groups of three, of two in India, or in none."""
    gap = f"[{re.escape(GAPS + '.,'.replace(point, ''))}]"
    by_three = rf"\d{{1,3}}(?P<gap>{gap})\d{{3}}(?:(?P=gap)\d{{3}})*"
    by_two = rf"\d{{1,2}}(?P<mark>{gap})(?:\d\d(?P=mark))+\d{{3}}"
    return re.compile(
        rf"(?P<whole>[+-]?(?:{by_three}|{by_two}|\d+))(?:{re.escape(point)}(?P<part>\d+))?"
        r"(?:[eE](?P<power>[+-]?\d{1,3}))?"
    )


PATTERNS = {point: _pattern(point) for point in POINTS}


@dataclass(frozen=True)
class Number:
    value: float
    half: float  # half a unit of its last digit: the largest rounding error
    decimals: int


def parse_number(text: str, point: str = ".") -> Number | None:
    """None if it is not a number in any locale. `point`: the decimal mark where two would fit."""
    text = text.strip()
    for mark in (point, *POINTS.replace(point, "")) if len(text) <= MOST_LETTERS else ():
        if found := PATTERNS[mark].fullmatch(text):
            part, power = found["part"] or "", int(found["power"] or 0)
            value = float(f"{re.sub(MARK, '', found['whole'])}.{part or 0}e{power}")
            if value and not SMALLEST <= abs(value) <= LARGEST:
                return None
            return Number(value, 0.5 * 10.0 ** (power - len(part)), len(part))
    return None


def parse_decimal(text: str) -> Number | None:
    """A number known to have decimals, such as a time: its last mark is the decimal mark."""
    marks = re.findall(MARK, text.strip())
    return parse_number(text, marks[-1] if marks and marks[-1] in POINTS else ".")


def point_of(texts: Iterable[str]) -> str:
    """The decimal mark of most of the numbers that allow only one; `.` if there are none."""
    votes: Counter[str] = Counter()
    for text in texts:
        fits = [point for point, pattern in PATTERNS.items() if pattern.fullmatch(text.strip())]
        votes.update(fits[:1] if not {".", ","} <= {*fits} else ())
    return votes.most_common(1)[0][0] if votes else "."


DESIGN, CORE = "design", "core"
"""Keys of records; beside these, `connections` and `side` have a meaning. Records that differ only
in the kind of core are of one run."""
LONGEST_LABEL = 80


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

    @property
    def low(self) -> float:
        return self.value - self.half

    @property
    def high(self) -> float:
        return self.value + self.half

    @property
    def words(self) -> str:
        """`416,830,285 cycles`, `102.63 msec`."""
        return f"{self.text} {self.unit or self.name.replace('_', ' ')}"


def figure_of(quantity: Quantity, number: Number, text: str, line: int) -> ReportedFigure:
    whole = quantity.is_count and quantity.scale == 1
    return ReportedFigure(
        quantity.name,
        number.value * quantity.scale,
        0.0 if whole and number.half == 0.5 else number.half * quantity.scale,
        text.strip(),
        quantity.unit,
        line,
        by_group=quantity.by_group,
    )


@dataclass(frozen=True)
class Record:
    """The figures of one run: one output of a program, or one row or column of a table."""

    file: str
    line: int
    keys: Mapping[str, str]
    figures: Mapping[str, ReportedFigure]
    repeated: bool = False  # a mean of several runs, printed with its spread
    table: int | None = None  # the line where its table begins; None: a program printed it
    tool: str = ""  # the load generator that printed it, if one did

    @property
    def label(self) -> str:
        text = ", ".join(value for value in self.keys.values() if value)
        return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"

    @property
    def place(self) -> tuple[object, ...]:
        """Identifies its run: records of two kinds of core share it."""
        return self.file, self.line, *(text for key, text in self.keys.items() if key != CORE)

    @property
    def design(self) -> str:
        return self.keys.get(DESIGN, "")

    @property
    def is_server(self) -> bool:
        return self.keys.get("side") != "client"

    def same_but(self, *names: str) -> tuple[object, ...]:
        """Equal for records that differ only in these keys.

        Rows of different tables are not compared; outputs of programs are, even from several files.
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
    odd: tuple[tuple[str, int, str], ...] = ()  # cells and rows: a check, a line and a sentence
    left: tuple[int, ...] = ()  # the lines with digits that no reader understood

    @property
    def is_empty(self) -> bool:
        return not (self.records or self.odd)


def merged(file: str, form: str, parts: Sequence[Reading]) -> Reading:
    """What several readers took from one file, by line."""
    records = sorted(
        (record for part in parts for record in part.records), key=lambda record: record.line
    )
    taken = frozenset(line for part in parts for line in part.taken)
    odd = tuple(case for part in parts for case in part.odd)
    return Reading(file, form, tuple(records), taken, odd)
