"""From the trials of a ledger to estimates, intervals and verdicts. Draws nothing."""

from regatta.analysis.quick import quick_standings

__all__ = ["quick_standings"]
