"""Compares two ledgers of one study, before and after a change, and finds regressions."""

from regatta.compare.compare import ComparisonRequest, RaceComparison, compare
from regatta.compare.decide import NO_REGRESSION, REGRESSION, UNDECIDED, CellComparison
from regatta.compare.show import print_comparison, to_dict

__all__ = [
    "NO_REGRESSION",
    "REGRESSION",
    "UNDECIDED",
    "CellComparison",
    "ComparisonRequest",
    "RaceComparison",
    "compare",
    "print_comparison",
    "to_dict",
]
