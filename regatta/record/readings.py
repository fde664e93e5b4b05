"""Reads a quantity from one trial: a number, or words that say why there is none."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean, pstdev

from regatta.record.counters import COUNTED, NOT_COUNTED, NOT_SUPPORTED, Counter, parse_event_name
from regatta.record.records import Trial

NS_PER_S = 1e9
ROUNDING = 0.005
"""Per cent: half of the last digit of a share that perf prints."""

Reading = float | str
"""A number, or words that say why there is none."""

PerTrial = Callable[[Trial, str], Reading]


def event(trial: Trial, side: str, name: str, origin: str = "perf") -> Reading:
    """The counter of an event; on a hybrid CPU over all kinds of core.

    For a thread, perf scales each kind's count to the thread's whole time, so the counts are
    averaged, weighted by the share of time on each kind. A control group runs on several kinds at
    once, so its counts add up. If none was counted, the words of the last.
    """
    there = trial.by_event.get((side, origin, name), ())
    kinds = [counter for counter in there if counter.state == COUNTED]
    if not kinds:
        return there[-1].state if there else NOT_SUPPORTED
    if len(kinds) == 1:
        return float(kinds[0].value or 0.0)
    values, shares = (
        [counter.value or 0.0 for counter in kinds],
        [_share(counter) for counter in kinds],
    )
    weights = weights_of(shares)
    weighted = sum(value * weight for value, weight in zip(values, weights, strict=True))
    return weighted if any(weights) else NOT_COUNTED


def _counted(trial: Trial, side: str, name: str = "") -> dict[str, Counter]:
    """A side's counters that perf counted, by full name; optionally of one event.

    A side pinned to one kind of core is "not counted" on the other, which is harmless.
    """
    return {
        full: counter
        for (of_side, of_origin, full), counter in trial.counters.items()
        if of_side == side
        and of_origin == "perf"
        and counter.state == COUNTED
        and (not name or parse_event_name(full).name == name)
    }


def _share(counter: Counter) -> float:
    return counter.running_percent or 0.0


def _of_one_time(shares: Sequence[float]) -> bool:
    """Whether the shares add up to at most 100 %, apart from rounding."""
    return sum(shares) <= 100 + ROUNDING * len(shares)


def weights_of(shares: Sequence[float]) -> list[float]:
    """Weights of the kinds of core, from the share of time on each; all 0 if unknown."""
    ran = sum(shares)
    if len(shares) == 1 or not _of_one_time(shares):
        return [1.0] * len(shares)
    return [share / ran if ran else 0.0 for share in shares]


def _divide(top: Reading, bottom: Reading | None, factor: float = 1.0) -> Reading:
    if isinstance(top, str):
        return top
    if isinstance(bottom, str):
        return bottom
    return top / bottom * factor if bottom else NOT_COUNTED


def plain(
    name: str,
    origin: str = "perf",
    factor: float = 1.0,
    over: Callable[[Trial, str], Reading | None] = lambda *_: 1.0,
) -> PerTrial:
    """The factor times the counter, divided by another reading."""

    def read(trial: Trial, side: str) -> Reading:
        return _divide(event(trial, side, name, origin), over(trial, side), factor)

    return read


def per_request(name: str, origin: str = "perf", factor: float = 1.0) -> PerTrial:
    return plain(name, origin, factor, lambda trial, _: trial.answered)


def ratio(top: str, bottom: str, factor: float = 1.0, origin: str = "perf") -> PerTrial:
    return plain(top, origin, factor, plain(bottom, origin))


def first_known(first: PerTrial, other: PerTrial) -> PerTrial:
    """The second reading if the first is missing; the first's words if both are."""

    def read(trial: Trial, side: str) -> Reading:
        reading = first(trial, side)
        if not isinstance(reading, str):
            return reading
        instead = other(trial, side)
        return reading if isinstance(instead, str) else instead

    return read


def either_per_request(name: str) -> PerTrial:
    """From perf, otherwise from the kernel's accounting, which means the same."""
    return first_known(per_request(name), per_request(name, "kernel"))


def per_second(name: str) -> PerTrial:
    """Per second of CPU time, as perf stat prints it; without perf from the kernel's accounting."""
    by_perf = ratio(name, "task-clock", NS_PER_S)
    return first_known(by_perf, ratio(name, "cpu-time", NS_PER_S, "kernel"))


def cores_of(trial: Trial, side: str) -> set[str]:
    """perf's names of the kinds of core on which a side's events were counted."""
    found = {parse_event_name(full).pmu for full in _counted(trial, side)}
    return {core for core in found if core is not None}


def of_core(core: str, read: PerTrial) -> PerTrial:
    """The same reading, restricted to one kind of core."""

    def read_there(trial: Trial, side: str) -> Reading:
        there = {
            key: counter
            for key, counter in trial.counters.items()
            if parse_event_name(key[2]).pmu == core
        }
        return read(replace(trial, counters=there), side)

    return read_there


def clock_ghz(trial: Trial, side: str) -> Reading:
    """Cycles per ns of CPU time, both over all kinds of core."""
    if any(parse_event_name(name).user_only for name in _counted(trial, side, "cycles")):
        return NOT_SUPPORTED  # the time includes the kernel
    return ratio("cycles", "task-clock")(trial, side)


def stalled_per_instruction(trial: Trial, side: str) -> Reading:
    """As in perf stat: the larger of front-end and back-end stalls."""
    found = [event(trial, side, f"stalled-cycles-{end}") for end in ("frontend", "backend")]
    stalled = [reading for reading in found if not isinstance(reading, str)]
    return _divide(max(stalled) if stalled else found[0], event(trial, side, "instructions"))


def counters_running(trial: Trial, side: str) -> Reading:
    """Share of time, in per cent, of the counter that ran least; kinds of core as in `event`."""
    shares: dict[str, list[float]] = {}
    for full, counter in _counted(trial, side).items():
        if counter.running_percent is not None:
            shares.setdefault(parse_event_name(full).name, []).append(counter.running_percent)
    ran = [sum(kinds) if _of_one_time(kinds) else min(kinds) for kinds in shares.values()]
    return min(100.0, *ran) if ran else NOT_SUPPORTED


def elapsed_s(trial: Trial, side: str) -> Reading:
    """The server's by the lab's clock, the client's from its first request to its last answer."""
    took_ns = trial.window_ns if side == "server" else trial.load_ns
    return NOT_COUNTED if took_ns is None else took_ns / NS_PER_S


def busy_per_request(trial: Trial, side: str) -> Reading:
    """On nearly idle CPUs, one tick of steal may exceed the busy time; then it is not counted."""
    busy_ns = event(trial, side, "busy-time", "cpus")
    if not isinstance(busy_ns, str) and busy_ns <= 0:
        return NOT_COUNTED
    return _divide(busy_ns, trial.answered, 1e-3)


def net_energy_per_request(trial: Trial, side: str) -> Reading:
    """Without the energy of the idle machine; not counted if that is more than was used."""
    gross, idle = (event(trial, side, name, "cpus") for name in ("energy", "idle-energy"))
    if isinstance(gross, str) or isinstance(idle, str):
        return gross if isinstance(gross, str) else idle
    return _divide(gross - idle, trial.answered) if gross > idle else NOT_COUNTED


def cpus_utilized(trial: Trial, side: str) -> Reading:
    return _divide(event(trial, side, "cpu-time", "kernel"), trial.window_ns)


def throughput(trial: Trial, _side: str) -> Reading:
    return NOT_COUNTED if trial.throughput_per_s is None else trial.throughput_per_s


def connections_spread(trial: Trial, _side: str) -> Reading:
    """Coefficient of variation: 0 if all workers served equally many connections."""
    if len(trial.workers) < 2 or not any(trial.workers):
        return NOT_SUPPORTED
    return pstdev(trial.workers) / fmean(trial.workers) * 100
