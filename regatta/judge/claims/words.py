"""The finding on a part of a claim, in words."""

from dataclasses import replace

from regatta.judge.claims.comparisons import FACTOR, GAP, POWER, SHARE, Comparison, Term
from regatta.judge.claims.result import ClaimPart
from regatta.judge.estimates import digits
from regatta.record.inputs import OVER_ITERATIVE
from regatta.record.recordings import last_name

WORDS = {
    "task_clock": "CPU time",
    "cpu_clock": "CPU time",
    "cpus_utilized": "share of a busy CPU",
    "system_time": "time in the kernel",
    "user_time": "time outside the kernel",
    "latency_p50": "median latency",
    "latency_max": "time until the last is answered",
    "connections_per_worker_spread": "spread of connections over workers",
    "clock_ghz": "clock",
    "latency_by_arrival": "rank correlation of latency with arrival",
    "replies_out_of_order": "share of replies out of order",
    "answers_per_burst": "number of different answers in a burst",
    "elapsed": "time from start to end",
}
CLOSE = 0.1
"""Ratios this near to 1 are shown with three decimals."""
NUMBER = ("more", "less")
COUNT = ("more", "fewer")
WIDTH = ("wider", "narrower")
UNBOUNDED = 1e4
"""A ratio's interval that spans more than this factor bounds nothing, so it is not shown."""


def finding(comparison: Comparison, part: ClaimPart, unit: str) -> str:
    """The result of one part as a clause; `unit` is that of a difference."""
    where = part.label.partition(":")[0]
    metric = words_of(comparison.terms[0].metric)
    if comparison.quantity == POWER:
        return f"{where}: {metric} grows with the power {_span(part)} of the connections"
    if comparison.quantity == SHARE:
        less, more = (term.selector.design for term in comparison.terms)
        causes = " and ".join(map(last_name, comparison.activities))
        return f"{where}: {_percent(part)} of what {more} needs more than {less} is for {causes}"
    if part.scale == "figure":
        return f"{where}: {metric} is {_span(part)}{unit}"
    if comparison.quantity == GAP:
        return f"{where}: {_gap(comparison, part, unit)}"
    first, second = (name_of(comparison, half[0]) for half in comparison.halves)
    subtracted, over = part.scale == "difference", comparison.terms[0].metric
    if comparison.quantity == FACTOR and subtracted:
        said = f"{metric} grows by {_amount(part, unit)} with {second} than with {first}"
    elif comparison.quantity == FACTOR:
        said = f"{metric} grows {_span(part)} times as much with {second} as with {first}"
    elif subtracted:
        what = words_of(over.removesuffix(OVER_ITERATIVE))
        words = COUNT if what.endswith("s") and " of " not in what else NUMBER
        said = f"{second} has {_amount(part, unit, words)} {what} than {first}"
    elif over.endswith(OVER_ITERATIVE):
        said = f"{second}'s {metric} is {_span(part)} times {first}'s"
    else:
        said = f"{second} has {_span(part)} times the {metric} of {first}"
    return f"{where}: {said}"


def _gap(comparison: Comparison, part: ClaimPart, unit: str) -> str:
    narrow, wide = (half[1].selector for half in comparison.halves)
    first, second = f"to {narrow.design}", f"to {wide.design}"
    if over_connections(comparison):
        first, second = (f"at {place.connections:,}" for place in (narrow, wide))
    if part.scale == "difference":
        return f"the gap {second} is {_amount(part, unit, WIDTH)} than that {first}"
    return f"the gap {second} is {_span(part)} times that {first}"


def name_of(comparison: Comparison, term: Term) -> str:
    """The name that distinguishes it from the other term."""
    designs = {other.selector.design for other in comparison.terms}
    if len({other.side for other in comparison.terms}) > 1:
        return f"the {term.side}"
    if len(designs) > 1:
        return term.selector.design
    return f"it at {term.selector.connections:,}" if over_connections(comparison) else "it"


def over_connections(comparison: Comparison) -> bool:
    return len({term.selector.connections for term in comparison.terms}) > 1


def words_of(metric: str) -> str:
    base = metric.removesuffix(OVER_ITERATIVE)
    beyond = " beyond iterative's" if metric != base else ""
    return WORDS.get(base, base.replace("_", " ")) + beyond


def _amount(part: ClaimPart, unit: str, words: tuple[str, str] = NUMBER) -> str:
    """A difference as a positive number with its direction: `28.2 (8.29 to 48.1) µs less`."""
    more, less = words
    if part.value is None or part.value >= 0:
        return f"{_span(part)}{unit} {more}"
    low, high = (None if end is None else -end for end in (part.high, part.low))
    return f"{_span(replace(part, value=-part.value, low=low, high=high))}{unit} {less}"


def _percent(part: ClaimPart) -> str:
    """A share: `62 (48 to 77) %`."""
    value, low, high = (
        None if end is None else 100 * end for end in (part.value, part.low, part.high)
    )
    return f"{_span(replace(part, value=value, low=low, high=high))} %"


def _span(part: ClaimPart) -> str:
    if part.value is None:
        return "an undefined number of"
    near = part.scale == "ratio" and abs(part.value - 1) < CLOSE
    shown = "{:.3f}".format if near else digits
    if part.scale == "ratio" and part.low and part.high and part.high / part.low > UNBOUNDED:
        return f"{shown(part.value)} (too few trials to bound it)"
    ends = " to ".join("…" if end is None else shown(end) for end in (part.low, part.high))
    return f"{shown(part.value)} ({ends})"
