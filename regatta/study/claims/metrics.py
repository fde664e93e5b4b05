"""What a claim may be over: its metrics, whose they are, and their units."""

from collections.abc import Mapping

from regatta.ledger.counters import COUNTERS, CPU_TIME, SUMMED
from regatta.ledger.given.claim import OVER_ITERATIVE
from regatta.ledger.metrics import METRICS, SIDES
from regatta.ledger.planned import TIMED

EVENT_METRICS = tuple(
    one.claimed_as for one in COUNTERS if one.unit in SUMMED and one.name != CPU_TIME
)
"""Sums: the published figure is of a whole process or a request, ours of a request."""
NO_SUMS = {metric.claimed_as: metric for metric in METRICS if "_per_request" not in metric.name}
"""What means the same of a request and of a whole process, as the reports measure it."""
OVER_METRICS = ("task_clock_over_iterative", "cpu_clock_over_iterative")
METRIC_SIDES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(EVENT_METRICS, SIDES),
    **{name: metric.sides for name, metric in NO_SUMS.items()},
    **dict.fromkeys(OVER_METRICS, ("server",)),
}
"""What a claim may be over, and whose it can be."""
TIMED_METRICS = (
    *("task_clock", "cpu_clock", "user_time", "system_time"),
    *(name for name, metric in NO_SUMS.items() if metric.kind == TIMED),
    *OVER_METRICS,
)
"""In a window from trials to which nothing is attached; all others from counted ones."""
ALSO_TIMED = ("context_switches", "page_faults")
"""Which the kernel counts by itself: from timed trials where there are no others."""
MICROSECONDS, MILLISECONDS, PERCENT_SIGN = "us", "ms", "%"


def is_timed(metric: str) -> bool:
    return metric in TIMED_METRICS


def unit_of(metric: str) -> str:
    """In which a margin of it may be stated, of a sum that of a request; empty: only as a share."""
    if metric.removesuffix(OVER_ITERATIVE).endswith(("_clock", "_time")):
        return MICROSECONDS
    known = NO_SUMS.get(metric)
    if known is not None and known.unit == MILLISECONDS:
        return MILLISECONDS
    return metric.replace("_", " ") if metric in EVENT_METRICS else ""


def unit_of_rate(metric: str) -> str:
    """Of what is no sum: per cent, or empty for a plain number."""
    known = NO_SUMS.get(metric)
    return PERCENT_SIGN if known is None or known.unit == PERCENT_SIGN else ""
