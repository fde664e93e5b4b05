"""The table of one statement of a claim: what is compared, how, over which cells, and in which
metric.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from regatta.record.cell import Cell
from regatta.record.counters import COUNTERS, CPU_TIME, SUMMED
from regatta.record.inputs import (
    ABOVE,
    BECAUSE,
    BELOW,
    BOTH,
    COMPARE,
    FALLING,
    FLAT,
    GROWTH,
    LINEAR,
    NEARER,
    ORDER,
    OVER_ITERATIVE,
    RATIO,
    RISING,
    SHAPES,
    SUBLINEAR,
    WIDENS,
    EquivalenceMargin,
    Statement,
)
from regatta.record.metrics import METRICS, SIDES
from regatta.record.recordings import ACTIVITIES, folded
from regatta.record.records import CLIENT, TIMED
from regatta.record.study import keys
from regatta.record.study.keys import Many, must, wrong

EVENT_METRICS = tuple(
    counter.claimed_as
    for counter in COUNTERS
    if counter.unit in SUMMED and counter.name != CPU_TIME
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


COMPARED = re.compile(r"\s*(server|client)\s*([<~])\s*(server|client)\s*")
AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(%|[a-z][a-z ]*)")
SHARE = PERCENT_SIGN
LARGEST_BOUND, MAX_TIMES = 1e12, 1e9
CPU_CLOCKS = ("task_clock", "cpu_clock")
MOSTLY = 0.5
"""The share of a difference that is its cause, by default."""
MOST_IN_A_GAP = 5
"""Every pair of designs is compared, and all are tested together."""

Groups = tuple[tuple[str, ...], ...]
"""The compared names, from the smallest to the largest; those of one group are equal."""
Raced = Annotated[str, keys.among("raced")]


def read_order(value: Any, info: ValidationInfo) -> Groups:
    """`["iterative~select", "fork-per-client"]`: two equal designs, and a larger one."""
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise must("a list of names, from the smallest to the largest")
    groups = tuple(tuple(name.strip() for name in entry.split("~")) for entry in value)
    names = [name for group in groups for name in group]
    raced = info.context["raced"] if info.context else ()
    for name in names:
        if name not in raced:
            known = f"the contenders are {', '.join(raced)}"
            raise wrong("", f"names {name!r}, which the study does not race; {known}")
    if len(names) < 2 or len(set(names)) != len(names):
        raise must("a list of at least two different names")
    return groups


def read_compare(value: Any) -> Groups:
    match = COMPARED.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[1] == match[3]:
        raise must("`client < server`, `server < client` or `client ~ server`")
    return ((match[1], match[3]),) if match[2] == "~" else ((match[1],), (match[3],))


def count(low: int, high: float, words: str) -> AfterValidator:
    return AfterValidator(keys.Must(words, lambda names: low <= len(names) <= high).check)


Order = Annotated[Groups, BeforeValidator(read_order)]
Gap = Annotated[Many[Raced], count(2, MOST_IN_A_GAP, f"a list of two to {MOST_IN_A_GAP}")]
NEARER_NEEDED = "a list of three: the first nearer to the second than to the third"
TIMES = keys.Must(f"a number above 0 and up to {MAX_TIMES:g}", lambda times: 0 < times <= MAX_TIMES)


def read_activity(value: Any) -> str:
    """`start of tasks`, or a part of one: `system calls: epoll_wait`."""
    names = value.split(": ") if isinstance(value, str) else [value]
    keys.choose(names[0], ACTIVITIES)
    if not all(names):
        raise must("an activity, or a part of one such as `system calls: futex`")
    return folded(*names)


Activity = Annotated[str, BeforeValidator(read_activity)]


def read_within(value: Any, kind: str, metric: str, groups: Groups) -> EquivalenceMargin:
    """A share, an amount, or both; with both, the wider one counts."""
    if value is None:
        return EquivalenceMargin()
    if kind not in (LINEAR, FLAT) and all(len(group) == 1 for group in groups):
        raise wrong("within", "is only for equality (~); remove it")
    unit = "" if kind in (LINEAR, GROWTH) else unit_of(metric)
    found: dict[str, float] = {}
    for margin in keys.listed(value):
        match = AMOUNT.fullmatch(margin) if isinstance(margin, str) else None
        if match is not None and match[2] in (SHARE, unit):
            found[match[2]] = float(match[1])
    share, amount = found.get(SHARE), found.get(unit)
    fits = found and len(found) == len(keys.listed(value)) and min(found.values()) > 0
    if not fits or (share is not None and share >= 100):
        also = f', "0.1 {unit}", or a list of both' if unit else ""
        raise wrong("within", f'is {value!r}; it must be a share below 100 %, such as "10 %"{also}')
    return EquivalenceMargin(None if share is None else share / 100, amount, unit if amount else "")


def read_bound(value: Any, kind: str, metric: str) -> EquivalenceMargin:
    """The bound of a figure, with a unit if the metric has one."""
    unit = unit_of(metric) or unit_of_rate(metric)
    match = AMOUNT.fullmatch(value) if isinstance(value, str) else None
    if match is not None and match[2] == unit:
        return EquivalenceMargin(None, float(match[1]), unit)
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if plain and not unit and 0 <= value <= LARGEST_BOUND:
        return EquivalenceMargin(None, float(value))
    needed = f'an amount such as "0.1 {unit}"' if unit else "a number from 0, such as 0.1"
    raise wrong(kind, f"is {value!r}; it must be {needed}")


SHAPE = "shape"
KINDS = (ORDER, COMPARE, SHAPE, RATIO, GROWTH, WIDENS, NEARER, BELOW, ABOVE)
"""A statement has exactly one of these keys."""
OF_DESIGNS = (ORDER, RATIO, GROWTH, WIDENS, NEARER, BECAUSE)
"""The kinds that compare designs."""
MULTIPLES = (ORDER, COMPARE, RATIO, GROWTH)
"""The kinds that allow `at_least`."""
FEWEST = {LINEAR: 3, **dict.fromkeys((SUBLINEAR, RISING, FALLING, FLAT, GROWTH, WIDENS), 2)}
"""How many numbers of connections a kind needs at least."""
COUNTED = {2: "two", 3: "three"}

Metric = Annotated[str, keys.one_of(tuple(METRIC_SIDES))]


class StatementTable(keys.TomlTable):
    metric: Metric
    side: Annotated[str, keys.one_of(SIDES)] | None = None
    connections: Many[keys.Connections]
    designs: Many[Raced] = ()
    order: Order = ()
    compare: Annotated[Groups, BeforeValidator(read_compare)] = ()
    shape: Annotated[str, keys.one_of(SHAPES)] | None = None
    ratio: Annotated[Many[Raced], count(2, 2, "a list of two")] = ()
    growth: Order = ()
    widens: Gap = ()
    nearer: Annotated[Many[Raced], count(3, 3, NEARER_NEEDED)] = ()
    below: Any = None
    above: Any = None
    because: Many[Activity] = ()
    at_least: Annotated[float, TIMES] | None = None
    within: Any = None

    @property
    def forms(self) -> list[str]:
        return [key for key in KINDS if self.has(key)]

    @property
    def kind(self) -> str:
        return self.shape or (BECAUSE if self.because else self.forms[0])

    @property
    def groups(self) -> Groups:
        """Names from the smallest to the largest; a ratio's numerator is the larger."""
        alone = self.ratio[::-1] or self.widens or self.nearer
        return self.order or self.compare or self.growth or tuple((name,) for name in alone)

    @property
    def sides(self) -> tuple[str, ...]:
        return (BOTH,) if self.compare else METRIC_SIDES[self.metric]

    def margin(self) -> EquivalenceMargin:
        if self.kind in (BELOW, ABOVE):
            bound = self.below if self.kind == BELOW else self.above
            return read_bound(bound, self.kind, self.metric)
        return read_within(self.within, self.kind, self.metric, self.groups)

    def mistakes(self) -> Iterator[tuple[str, str]]:
        if len(self.forms) != 1:
            found = " and ".join(f"`{key}`" for key in self.forms) or "none of them"
            yield "", f"must have exactly one of {', '.join(KINDS)}; it has {found}"
        key = self.forms[0]
        if self.because and [len(group) for group in self.order] != [1, 1]:
            yield "because", "needs `order` with two designs, the second of which needs more"
        if self.because and (self.metric not in CPU_CLOCKS or self.side == CLIENT):
            yield "because", "is about the server's CPU time: `metric` must be task_clock"
        if self.at_least is not None and (self.at_least > 1) == bool(self.because):
            needed = "a share of the difference, up to 1" if self.because else "above 1"
            yield "at_least", f"is {self.at_least:g}; it must be {needed}"
        if len(self.connections) < FEWEST.get(self.kind, 1):
            least = COUNTED[FEWEST[self.kind]]
            yield "connections", f"must be at least {least} numbers, because `{key}` needs them"
        if self.designs and key in OF_DESIGNS:
            yield "designs", f"follows from `{key}`; remove it"
        if key not in MULTIPLES and self.at_least is not None:
            yield "at_least", f"cannot be combined with `{key}`; remove it"
        if self.ratio and self.at_least is None:
            yield "", "has a `ratio` but no `at_least`; add it"
        if key in (BELOW, ABOVE) and self.within is not None:
            yield "within", "is only for equality (~); remove it"
        self.margin()
        if self.compare and self.side:
            yield "side", "follows from `compare`; remove it"
        if self.compare and METRIC_SIDES[self.metric] != SIDES:
            yield "metric", "must be one that both sides have, because `compare` needs both"
        if self.side and self.side not in self.sides:
            yield "side", f"is {self.side!r}; it must be one of {', '.join(self.sides)}"

    def statement(self, cells: Sequence[Cell]) -> Statement:
        connections = tuple(sorted(self.connections))
        designs = tuple(name for group in self.groups for name in group)
        if self.kind not in OF_DESIGNS:
            designs = self.designs or designs_at(connections, cells)
        return Statement(
            kind=self.kind,
            metric=self.metric,
            side=self.side or self.sides[0],
            connections=connections,
            groups=self.groups,
            designs=designs,
            at_least=(self.at_least or MOSTLY) if self.because else self.at_least,
            activities=self.because,
            within=self.margin(),
        )


def designs_at(connections: Sequence[int], cells: Sequence[Cell]) -> tuple[str, ...]:
    """All designs that race with each of these numbers of connections."""
    found: dict[str, set[int]] = {}
    for cell in cells:
        found.setdefault(cell.contender, set()).add(cell.connections)
    wanted = set(connections)
    return tuple(name for name, counts in found.items() if wanted <= counts) or tuple(found)
