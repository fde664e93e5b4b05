"""A table of text, the same in every form of the report."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    title: str
    says: str
    """What the reader must know to read it."""
    header: list[str]
    rows: list[list[str]]
    """The contender, then its figures, each with its interval, if it has one, in a second line."""
