"""What one trial says of a quantity: a number, or the words that say why there is none."""

from collections.abc import Callable
from statistics import fmean, pstdev

from regatta.ledger.counters import COUNTED, NOT_COUNTED, NOT_SUPPORTED
from regatta.ledger.perf_spelling import parse_event_name
from regatta.ledger.records import Trial

Reading = float | str
"""A number, or the words that say why there is none."""


PerTrial = Callable[[Trial, str], Reading]


def event(trial: Trial, side: str, name: str, origin: str = "perf") -> Reading:
    """The counter of an event, summed over the kinds of core of a hybrid CPU."""
    total, state = 0.0, ""
    for (of_side, of_origin, full_name), counter in trial.counters.items():
        if of_side != side or of_origin != origin or parse_event_name(full_name).name != name:
            continue
        if counter.state == COUNTED and counter.value is not None:
            # A side pinned to one kind of core is "not counted" on the other: no loss.
            total, state = total + counter.value, COUNTED
        elif state != COUNTED:
            state = counter.state
    return total if state == COUNTED else state or NOT_SUPPORTED


def _divide(top: Reading, bottom: Reading | None, factor: float = 1.0) -> Reading:
    if isinstance(top, str):
        return top
    if isinstance(bottom, str):
        return bottom
    return top / bottom * factor if bottom else NOT_COUNTED


def per_request(name: str, origin: str = "perf", factor: float = 1.0) -> PerTrial:
    def read(trial: Trial, side: str) -> Reading:
        return _divide(event(trial, side, name, origin), trial.answered, factor)

    return read


def either_per_request(name: str) -> PerTrial:
    """From perf; without it what the kernel itself counted, which means the same."""
    by_perf, by_kernel = per_request(name), per_request(name, "kernel")

    def read(trial: Trial, side: str) -> Reading:
        reading = by_perf(trial, side)
        return by_kernel(trial, side) if isinstance(reading, str) else reading

    return read


def ratio(top: str, bottom: str, factor: float = 1.0) -> PerTrial:
    def read(trial: Trial, side: str) -> Reading:
        return _divide(event(trial, side, top), event(trial, side, bottom), factor)

    return read


def plain(name: str) -> PerTrial:
    def read(trial: Trial, side: str) -> Reading:
        return event(trial, side, name)

    return read


def busy_per_request(trial: Trial, side: str) -> Reading:
    """A tick of steal may be more than CPUs that did next to nothing were busy."""
    busy_ns = event(trial, side, "busy-time", "cpus")
    if not isinstance(busy_ns, str) and busy_ns <= 0:
        return NOT_COUNTED
    return _divide(busy_ns, trial.answered, 1e-3)


def cpus_utilized(trial: Trial, side: str) -> Reading:
    return _divide(event(trial, side, "cpu-time", "kernel"), trial.window_ns)


def throughput(trial: Trial, _side: str) -> Reading:
    return NOT_COUNTED if trial.throughput_per_s is None else trial.throughput_per_s


def connections_spread(trial: Trial, _side: str) -> Reading:
    """The coefficient of variation: 0 if each worker served as many, whatever their number."""
    if len(trial.workers) < 2 or not any(trial.workers):
        return NOT_SUPPORTED
    return pstdev(trial.workers) / fmean(trial.workers) * 100
