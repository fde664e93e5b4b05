"""A finding: the arithmetic of some figures, what follows, and what to do."""

from dataclasses import dataclass

from regatta.review.figures import Record

CONTRADICTION = "contradiction"
"""Two figures that cannot both be right, or one that cannot be what it is called."""
NOT_SHOWN = "not shown"
"""Figures that may all be right, but do not support the usual conclusion."""
KINDS = (CONTRADICTION, NOT_SHOWN)


@dataclass(frozen=True)
class Check:
    """A kind of finding: its name in JSON, its kind, its title, and what to do."""

    name: str
    kind: str
    title: str
    do: str

    def found(
        self,
        where: Record,
        says: str,
        *,
        line: int | None = None,
        printed: float | None = None,
        computed: float | None = None,
    ) -> "Finding":
        """`line`: if it is not the record's."""
        return Finding(self, where.file, line or where.line, where.label, says, printed, computed)


@dataclass(frozen=True)
class Finding:
    check: Check
    file: str
    line: int
    subject: str
    """Whose figures these are."""
    says: str
    """The arithmetic, in one or two sentences."""
    printed: float | None = None
    computed: float | None = None
    """Where one figure is compared with what follows from others: both, in the same unit."""


def and_others(count: int, word: str) -> str:
    """The end of an example that stands for several."""
    if count <= 0:
        return ""
    return f" The same holds for {count:,} other {word if count == 1 else word + 's'}."
