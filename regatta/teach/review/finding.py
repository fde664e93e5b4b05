"""The checks of checks.md, and a finding: the arithmetic of some figures, and what follows."""

import re
from dataclasses import dataclass
from pathlib import Path

from regatta.judge.estimates import digits
from regatta.teach.review.figures import Record, ReportedFigure

CONTRADICTION, NOT_SHOWN = KINDS = ("contradiction", "not shown")
"""Two figures that cannot both be right, or one that cannot be what it is called; and figures that
may all be right, but do not support the usual conclusion."""


@dataclass(frozen=True)
class FigureCheck:
    name: str
    kind: str
    title: str
    do: str


TABLE = (Path(__file__).parent / "checks.md").read_text(encoding="utf-8")
CHECKS = {
    name: FigureCheck(name, kind, title, do)
    for kind, section in zip(
        KINDS, re.split(r"^## .*$", TABLE, flags=re.MULTILINE)[1:], strict=True
    )
    for name, title, do in re.findall(r"- `(.+)`: (.+)\n  (.+)", section)
}
ORDER = {name: place for place, name in enumerate(CHECKS)}


@dataclass(frozen=True)
class ReviewFinding:
    check: FigureCheck
    file: str
    line: int
    subject: str
    """Whose figures these are."""
    says: str
    """The arithmetic, in one or two sentences."""
    printed: float | None = None
    computed: float | None = None
    """Where one figure is compared with what follows from others: both, in the same unit."""


def found(
    name: str,
    record: Record,
    says: str,
    at: ReportedFigure | tuple[int, float | None] | None = None,
    computed: float | None = None,
) -> ReviewFinding:
    """`at`: the printed figure, or the line and the value if no figure was printed so."""
    line, printed = (
        (at.line, at.value) if isinstance(at, ReportedFigure) else at or (record.line, None)
    )
    return ReviewFinding(CHECKS[name], record.file, line, record.label, says, printed, computed)


def and_others(those: int, word: str) -> str:
    """The end of an example that stands for several, itself among them."""
    if those < 2:
        return ""
    return f" The same holds for {those - 1:,} other {word if those == 2 else word + 's'}."


def milliseconds(seconds: float) -> str:
    return f"{digits(seconds * 1e3, 4)} ms"


def amount(value: float) -> str:
    """`746.3 million`; small ones whole."""
    return f"{digits(value / 1e6, 4)} million" if abs(value) >= 1e6 else f"{value:,.0f}"


def share(part: float, whole: float) -> str:
    """`0.8 %`."""
    return f"{digits(part / whole * 100, 2)} %"
