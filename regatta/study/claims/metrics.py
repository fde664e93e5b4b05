"""The metrics of claims: their sides and units."""

from collections.abc import Mapping

from regatta.ledger.counters import COUNTERS, CPU_TIME, SUMMED
from regatta.ledger.inputs.claim import OVER_ITERATIVE
from regatta.ledger.metrics import METRICS, SIDES
from regatta.ledger.planned import TIMED

EVENT_METRICS = tuple(
    one.claimed_as for one in COUNTERS if one.unit in SUMMED and one.name != CPU_TIME
)
"""Sums: published for a whole process or a request, measured per request."""
NO_SUMS = {metric.claimed_as: metric for metric in METRICS if "_per_request" not in metric.name}
"""Metrics that mean the same for a request and for a whole process."""
OVER_METRICS = ("task_clock_over_iterative", "cpu_clock_over_iterative")
METRIC_SIDES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(EVENT_METRICS, SIDES),
    **{name: metric.sides for name, metric in NO_SUMS.items()},
    **dict.fromkeys(OVER_METRICS, ("server",)),
}
"""All metrics of claims, with the sides that have them."""
TIMED_METRICS = (
    *("task_clock", "cpu_clock", "user_time", "system_time"),
    *(name for name, metric in NO_SUMS.items() if metric.kind == TIMED),
    *OVER_METRICS,
)
"""In the scope `window` taken from timed trials, without perf; all others from counted ones."""
ALSO_TIMED = ("context_switches", "page_faults")
"""Counted by the kernel itself, so that timed trials replace missing counted ones."""
MICROSECONDS, MILLISECONDS, PERCENT_SIGN = "us", "ms", "%"


def is_timed(metric: str) -> bool:
    return metric in TIMED_METRICS


def unit_of(metric: str) -> str:
    """The unit of an absolute margin, for sums per request; empty: only a share is allowed."""
    if metric.removesuffix(OVER_ITERATIVE).endswith(("_clock", "_time")):
        return MICROSECONDS
    known = NO_SUMS.get(metric)
    if known is not None and known.unit == MILLISECONDS:
        return MILLISECONDS
    return metric.replace("_", " ") if metric in EVENT_METRICS else ""


def unit_of_rate(metric: str) -> str:
    """For metrics that are no sums: per cent, or empty for a plain number."""
    known = NO_SUMS.get(metric)
    return PERCENT_SIGN if known is None or known.unit == PERCENT_SIGN else ""
