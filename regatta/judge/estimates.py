"""From the trials of one cell to one estimate for each metric and side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from regatta.judge.interval import OpenInterval
from regatta.judge.statistics.autocorrelation import Reach, mean_interval, reach_of
from regatta.judge.statistics.percentiles import (
    RequestLatencies,
    latencies_of,
    percentile_intervals,
    pool,
)
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record import metrics
from regatta.record.cell import PROCESS
from regatta.record.metrics import FRACTIONS, METRICS, NO_TRIAL, Metric, on_core
from regatta.record.readings import Reading, cores_of
from regatta.record.records import COUNTED_TRIAL, OK, SERVER, TIMED, Trial


def digits(value: float, count: int = 3) -> str:
    """With so many significant digits; from 1,000 on without decimals."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{count}g}"


MEASURED = "measured"
CLIENT_BOUND = "client-bound"
DISTURBED = "disturbed"
OVER = "over"
DRAWN = (MEASURED, OVER)
"""States that charts show; a client-bound figure is not the server's."""
NS_PER_MS = 1e6


@dataclass(frozen=True)
class Estimate(OpenInterval):
    trials: int = 0
    """The number of trials it rests on."""
    state: str = MEASURED
    """`measured`, or why there is no value; `over`: it is at least `low`; `client-bound` or
    `disturbed` with a value: measured at the rate that the client could sustain."""


Estimates = dict[tuple[str, str], Estimate]
"""Keyed by side and the metric's name."""


@dataclass(frozen=True)
class Latencies:
    requests: int
    """All that were due, answered or not."""
    quantiles_ms: list[tuple[float, float]]
    """Fraction and latency: few points, dense in the tail. They end before the requests of which
    only a lower bound is known."""


def estimate_cell(trials: list[Trial], units: Units = BLOCKS) -> tuple[Estimates, Latencies]:
    """The estimates of all metrics from the usable trials of a cell."""
    all_usable = usable(trials)
    all_served = served(trials)
    absent = behind(trials) or NO_TRIAL
    found: Estimates = {}
    for metric in METRICS:
        if metric.read is None:
            continue
        for side in metric.sides:
            of_metric = taken(metric, all_served if side == SERVER else all_usable)
            blocks = [trial.block for trial in of_metric]
            late = behind(of_metric)
            for each in (metric, *_on_cores(metric, side, of_metric)):
                estimate = summarize(
                    [each.read(trial, side) for trial in of_metric if each.read],
                    absent,
                    blocks,
                    units,
                )
                is_late = late and estimate.value is not None
                found[side, each.name] = replace(estimate, state=late) if is_late else estimate
    of_latency, latencies = estimate_latency(all_usable, absent, units)
    return found | of_latency, latencies


def _on_cores(metric: Metric, side: str, trials: list[Trial]) -> list[Metric]:
    """The metric for each kind of core, if the side ran on several."""
    if not metric.by_core:
        return []
    cores = set[str]().union(*(cores_of(trial, side) for trial in trials))
    return [on_core(metric, core) for core in sorted(cores)] if len(cores) > 1 else []


def behind(trials: list[Trial]) -> str:
    """Why the client did not keep up in some of these trials; empty if it did in all."""
    late = [trial for trial in trials if trial.status == OK and trial.client_bound is not None]
    if any(trial.is_client_bound for trial in late):
        return CLIENT_BOUND
    return DISTURBED if late else ""


def usable(trials: list[Trial]) -> list[Trial]:
    """The successful trials of a cell in which the client kept up.

    If it kept up in fewer than half of a kind, the others are a biased selection, so none of that
    kind is used.
    """
    return [trial for ok in _by_kind(trials) if _kept_up(ok) for trial in ok if trial.counts]


def usable_for(metric: Metric, side: str, trials: list[Trial]) -> list[Trial]:
    """`usable` trials for client metrics and percentiles, else `served` ones."""
    return usable(trials) if side != SERVER or metric.read is None else served(trials)


def served(trials: list[Trial]) -> list[Trial]:
    """The same for the server's resources: also client-bound trials, if most are client-bound.

    The cost of a request is valid there, at the client's rate; latency and throughput are not the
    server's.
    """
    return [trial for ok in _by_kind(trials) for trial in ok if trial.counts or not _kept_up(ok)]


def _by_kind(trials: list[Trial]) -> list[list[Trial]]:
    standing = [trial for trial in trials if trial.status == OK and not trial.superseded]
    return [[trial for trial in standing if trial.kind == kind] for kind in (TIMED, COUNTED_TRIAL)]


def _kept_up(ok: list[Trial]) -> bool:
    return 2 * sum(trial.counts for trial in ok) >= len(ok)


def takes(metric: Metric, trial: Trial) -> bool:
    """Whether the metric is measured in this kind of trial; whole processes are always counted."""
    return trial.kind == metric.kind or trial.scope == PROCESS


def taken(metric: Metric, trials: list[Trial]) -> list[Trial]:
    """The trials that the metric is measured in."""
    right = [trial for trial in trials if takes(metric, trial)]
    if metric in (metrics.SWITCHES_PER_REQUEST, metrics.FAULTS_PER_REQUEST) and not right:
        # A race without perf may have no counted trials. The kernel counts these anyway, without
        # disturbing the measurement, so timed trials will do.
        return trials
    return right


def summarize(
    found: list[Reading], absent: str, blocks: Sequence[int], units: Units = BLOCKS
) -> Estimate:
    """`blocks`: the block of each reading; `absent`: the state without readings."""
    numbers = {
        block: reading
        for block, reading in zip(blocks, found, strict=True)
        if not isinstance(reading, str)
    }
    if numbers:
        values = np.array(list(numbers.values()), dtype=np.float64)
        mean = mean_interval(values, units.reach_of(list(numbers)))
        return Estimate(**vars(mean), trials=len(numbers))
    words = [reading for reading in found if isinstance(reading, str)]
    return Estimate(state=words[0] if words else absent)


def estimate_latency(
    ok: list[Trial], absent: str = NO_TRIAL, units: Units = BLOCKS
) -> tuple[Estimates, Latencies]:
    """Percentiles of the pooled requests.

    The last is the maximum: more requests may find a slower one, so its interval has no upper end.
    """
    by_block = {trial.block: latencies_of(trial) for trial in ok if takes(metrics.P50, trial)}
    by_block = {block: requests for block, requests in by_block.items() if requests.count > 0}
    per_trial = list(by_block.values())
    if not per_trial:
        none = Estimate(state=absent)
        return {("client", name): none for name in FRACTIONS}, Latencies(0, [])
    reach = units.reach_of(list(by_block))
    percentiles = percentiles_ms(per_trial, list(FRACTIONS.values()), reach)
    found = dict(zip((("client", name) for name in FRACTIONS), percentiles, strict=True))
    pooled = pool(per_trial)
    return found, Latencies(pooled.count, _quantiles(pooled))


def percentiles_ms(
    trials: list[RequestLatencies], fractions: list[float], reach: Reach = reach_of
) -> list[Estimate]:
    """Of the pooled requests, one a fraction."""
    return [
        Estimate(
            **vars(interval.through(lambda ns: ns / NS_PER_MS)),
            trials=len(trials),
            state=OVER if interval.value is None else MEASURED,
        )
        for interval in percentile_intervals(trials, fractions, reach)
    ]


def _quantiles(pooled: RequestLatencies) -> list[tuple[float, float]]:
    """The distribution in about 120 points: exact order statistics, not smoothed."""
    count = pooled.count
    body = np.linspace(0, 1, 81)
    tail = 1 - np.logspace(-2, -5, 40)
    wanted = np.unique(np.concatenate([body, tail]) * (count - 1))
    positions = np.unique(np.ceil(wanted).astype(np.int64))
    known = positions[positions < len(pooled.known)]
    if 0 < len(pooled.known) < count:
        known = np.union1d(known, len(pooled.known) - 1)
    return [((int(at) + 1) / count, float(pooled.known[at]) / NS_PER_MS) for at in known]
