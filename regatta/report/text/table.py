"""A table of text, the same in every form of the report."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    title: str
    says: str
    """How to read it."""
    header: list[str]
    rows: list[list[str]]
    """The contender, then its figures; an interval follows its figure on a second line."""
