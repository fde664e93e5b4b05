"""What a race measured for a claim in one scope: one number a block for each term.

Where there is none, NoFigureError says why.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from regatta.judge.anatomy import Spent
from regatta.judge.claims.comparisons import PROCESS_SUM, REQUEST, ROUND, Term
from regatta.judge.claims.result import MeasuredFigure
from regatta.judge.contrast import by_block, requests_of
from regatta.judge.estimates import MEASURED, NS_PER_MS, OVER, Estimates, summarize
from regatta.judge.statistics.percentile_comparison import Requests
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record import metrics
from regatta.record.cell import PROCESS, Cell
from regatta.record.inputs import ITERATIVE, OVER_ITERATIVE, CellSelector, EquivalenceMargin
from regatta.record.metrics import BY_NAME, FRACTIONS, NO_TRIAL, SIDES, Metric
from regatta.record.readings import Reading, first_known, per_request, plain
from regatta.record.records import COUNTED_TRIAL, TIMED, Trial
from regatta.record.samples import burst_latencies_ns, bursts
from regatta.record.study.statement import EVENT_METRICS, MICROSECONDS, MILLISECONDS

MS_PER_NS = 1e-6
CPU_NAMES = ("task_clock", "cpu_clock")
KERNEL_TIMES = ("user_time", "system_time")
"""Which perf does not count."""
SAME = {
    **dict.fromkeys(CPU_NAMES, metrics.PRIMARY.name),
    "user_time": "user_time_per_request_us",
    "system_time": "system_time_per_request_us",
    "latency_p50": metrics.P50.name,
    "latency_p99": metrics.P99.name,
    "latency_p999": metrics.P999.name,
    "latency_max": metrics.LATENCY_MAX.name,
    "throughput": metrics.THROUGHPUT.name,
}
"""The standings' metric of a claim's metric, where the names differ."""
ENDINGS = ("", "_per_request", "_percent", "_s", "_mib", "_ms")


@dataclass(frozen=True)
class Measure:
    metric: Metric
    per: str
    """`request`, `process`, or empty for what is not a sum."""
    over_iterative: bool = False
    """The iterative server's is subtracted, block by block."""


def measure(name: str, scope: str) -> Measure:
    """How a claim's metric is measured in a scope."""
    over = name.endswith(OVER_ITERATIVE)
    base = name.removesuffix(OVER_ITERATIVE)
    names = [SAME.get(base, base) + ending for ending in ENDINGS]
    known = next((BY_NAME[full] for full in names if full in BY_NAME), None)
    if base not in EVENT_METRICS:
        # Metrics that are not sums mean the same in both scopes.
        return Measure(known or BY_NAME[base], "", over)
    event, label = base.replace("_", "-"), base.replace("_", " ")
    if scope != PROCESS:
        # CPU time is the kernel's account, from trials without perf attached.
        read = per_request(event)
        counted = Metric(base, label, "", COUNTED_TRIAL, SIDES, "lower", read, "")
        return Measure(known or counted, REQUEST, over)
    # Of a whole process, as perf stat counts it; without perf the kernel's account.
    is_time = base in (*CPU_NAMES, *KERNEL_TIMES)
    unit, factor = ("ms", MS_PER_NS) if is_time else ("", 1.0)
    read = plain("cpu-time" if base in CPU_NAMES else event, "kernel", factor)
    kind = TIMED
    if base not in KERNEL_TIMES:
        kind, read = COUNTED_TRIAL, first_known(plain(event, factor=factor), read)
    return Measure(Metric(base, label, unit, kind, SIDES, "lower", read, ""), PROCESS_SUM, over)


def slowest_of_burst_ms(trial: Trial, _side: str) -> Reading:
    """The mean over the trial's bursts of the time until the last connection is answered.

    The maximum of a trial differs: with one connection it is that of 200 bursts, an extreme value;
    with 100 connections that of two.
    """
    latencies = burst_latencies_ns(bursts(trial))
    return float(np.mean(latencies.max(axis=1))) / NS_PER_MS if latencies.size else NO_TRIAL


BURST_TIME = Metric(
    "burst_time_ms",
    "time until all are answered",
    "ms",
    TIMED,
    ("client",),
    "lower",
    slowest_of_burst_ms,
    "The slowest answer of a burst; the mean over bursts.",
)


NOT_RACED = "not raced"
NO_SAMPLES = "it has no samples (`--why`, of the last step of a table)"

Blocks = dict[int, float]
Found = TypeVar("Found")


class NoFigureError(Exception):
    """Why there is no number."""


def known(found: Found | str) -> Found:
    if isinstance(found, str):
        raise NoFigureError(found)
    return found


@dataclass
class RaceResults:
    """The results of a race that claims need."""

    cells: list[Cell]
    trials: dict[int, list[Trial]]
    estimates: dict[int, Estimates]
    """By cell number, like `trials`."""
    left_out: dict[str, str]
    taken: dict[tuple[int, str, str], Blocks | str] = field(default_factory=dict)
    """Cache by cell, side and metric name."""
    units: Units = BLOCKS
    stacks: Mapping[int, Spent] = field(default_factory=dict)
    """By cell number."""


def common_blocks(columns: Iterable[Blocks]) -> list[int]:
    """The blocks that every column has."""
    return sorted(set.intersection(*map(set, columns)))


@dataclass(frozen=True)
class Evidence:
    race: RaceResults
    scope: str
    cells: dict[CellSelector, Cell]

    def values(self, term: Term) -> Blocks:
        """One number a block."""
        how, times = self.how(term), self._times(term)
        mine = self._raw(term.selector, term.side, how)
        base = dict.fromkeys(mine, 0.0)
        if how.over_iterative:
            base = self._raw(CellSelector(ITERATIVE, term.selector.connections), term.side, how)
        return {at: times * (mine[at] - base[at]) for at in common_blocks((mine, base))}

    def stacks(self, term: Term) -> Spent:
        """What the CPU time of its cell's sampled trials is spent on."""
        found = self.race.stacks.get(self._cell(term.selector).id)
        if not found:
            raise NoFigureError(NO_SAMPLES)
        return found

    def mean(self, term: Term) -> float | None:
        """Over blocks; None if it was not measured."""
        try:
            values = self.values(term)
        except NoFigureError:
            return None
        return sum(values.values()) / len(values) if values else None

    def requests(self, term: Term) -> Requests:
        """Latencies by block."""
        return requests_of(self.race.trials.get(self._cell(term.selector).id, []))

    def fraction(self, term: Term) -> float | None:
        """If the term is a percentile of requests; else None."""
        return FRACTIONS.get(self.how(term).metric.name)

    def figure(self, term: Term) -> MeasuredFigure:
        """The term's mean with its interval; for latencies, the pooled percentile."""
        how = self.how(term)
        cell = self.cells.get(term.selector)
        if cell is not None and how.metric.name in FRACTIONS:
            found = self.race.estimates[cell.id][term.side, how.metric.name]
            if found.state == OVER and found.low is not None:
                found = replace(found, low=None, state=f"{OVER} {found.low:.3g} {how.metric.unit}")
        else:
            values, absent = Blocks(), MEASURED
            try:
                values = self.values(term)
            except NoFigureError as why:
                absent = str(why)
            found = summarize(list(values.values()), absent, list(values), self.race.units)
        return MeasuredFigure(
            design=term.selector.design,
            connections=term.selector.connections,
            engine=cell.engine if cell else "",
            unit=how.metric.unit,
            per=how.per,
            side=term.side,
            metric=term.metric,
            **vars(found),
        )

    def amount(self, term: Term, within: EquivalenceMargin) -> float | None:
        """The margin in the unit of the term's values; for a sum, over all its requests."""
        if within.amount is None:
            return None
        how = self.how(term)
        in_ms = within.unit == MICROSECONDS and how.metric.unit == MILLISECONDS
        return within.amount * self._requests(term, how.per) * (1e-3 if in_ms else 1.0)

    def how(self, term: Term) -> Measure:
        """How the term is measured in its cell."""
        cell = self.cells.get(term.selector)
        if term.metric == "latency_max" and cell is not None and cell.load == "burst":
            return Measure(BURST_TIME, "")
        found = measure(term.metric, self.scope)
        one_round = cell is None or cell.rounds in (None, 1)
        as_asked = found.per == PROCESS_SUM and term.per == ROUND and one_round
        return replace(found, per=term.per) if found.per and term.per and not as_asked else found

    def _times(self, term: Term) -> float:
        """Factor from the sum that the scope measures to the sum that the term asks for."""
        here, asked = measure(term.metric, self.scope).per, self.how(term).per
        return self._requests(term, asked) / self._requests(term, here)

    def _requests(self, term: Term, per: str) -> int:
        """Number of requests that a sum is taken over."""
        cell = self.cells.get(term.selector)
        if cell is None:
            return 1
        rounds = {PROCESS_SUM: cell.rounds or 1, ROUND: 1}.get(per)
        return 1 if rounds is None else rounds * cell.connections

    def _raw(self, selector: CellSelector, side: str, how: Measure) -> Blocks:
        cell = self._cell(selector)
        key = (cell.id, side, how.metric.name)
        if key not in self.race.taken:
            trials = self.race.trials.get(cell.id, [])
            self.race.taken[key] = by_block(how.metric, side, trials)
        return known(self.race.taken[key])

    def _cell(self, selector: CellSelector) -> Cell:
        if selector not in self.cells:
            reason = self.race.left_out.get(selector.design)
            cannot = f"{selector.design} cannot run here: {reason}"
            raise NoFigureError(NOT_RACED if reason is None else cannot)
        return self.cells[selector]
