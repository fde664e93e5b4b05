"""Numbers as people print them: 416,830,285 and 41,68,30,285, 1.234,56 and 1 234,56.

perf and spreadsheets follow the locale. A single mark before three digits is ambiguous (1,234): the
other numbers of the file decide.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

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
