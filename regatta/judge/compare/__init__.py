"""Compares two ledgers of one study, before and after a change, and finds regressions."""

from regatta.judge.compare.compare import ComparisonRequest, RaceComparison, compare
from regatta.judge.compare.decide import NO_REGRESSION, REGRESSION, UNDECIDED, CellComparison

__all__ = [
    "NO_REGRESSION",
    "REGRESSION",
    "UNDECIDED",
    "CellComparison",
    "ComparisonRequest",
    "RaceComparison",
    "compare",
]
