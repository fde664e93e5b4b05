"""The record of a window, and how several become one: of its sides, its slices or its clients.

Each merge is a table {field: how}. Counts are added, percentages are averaged weighted by the
parts' lengths, and a counter that failed in any part has no value for the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regatta.errors import TrialError
from regatta.measure.accounts import disturbance
from regatta.measure.accounts.disturbance import CPU_SHARE_LIMIT, Others
from regatta.measure.places.sides import ClockOffset
from regatta.measure.trial.idle_wait import Rest
from regatta.record.counters import (
    BYTES,
    COMPANIONS_TIME,
    COUNTED,
    CPU_TIME,
    PERCENT,
    Counter,
    Counters,
)
from regatta.record.records import KERNEL
from regatta.record.samples import ANSWERED, TIMED_OUT, UNSTARTED, join_samples
from regatta.record.study.limits import START_SKEW_LIMIT_MS

NS_PER_S = 1e9
NS_PER_MS = 1e6
SHORTEST_WINDOW_NS = 20_000_000
"""In a shorter window a CPU share means nothing; as in src/client/results/client_bound.c."""


@dataclass(frozen=True)
class Window:
    """What was counted in a window: by one of its sides, by all, or in all slices of a trial."""

    length_ns: int = 0
    counters: Counters = field(default_factory=dict)
    others: Others = Others()
    rests: tuple[Rest, ...] = ()
    """The server's waits at both ends of each window; of a whole process, none."""
    client: dict[str, Any] = field(default_factory=dict)
    samples: bytes = b""
    printed: dict[str, str] = field(default_factory=dict)
    """perf's output for each side that was counted from exec to exit."""

    def cpu_ns(self, *sides: str) -> float:
        """The CPU time of these sides' programs, by the kernel's accounts."""
        times = (CPU_TIME, COMPANIONS_TIME)
        found = [self.counters.get((side, KERNEL, time)) for side in sides for time in times]
        return sum(counter.value or 0.0 for counter in found if counter is not None)


How = Callable[[Sequence[Any], Sequence[float]], Any]
"""How the values of one field, each with its part's weight, become one."""
Table = Mapping[str, How]


def merged(
    parts: Sequence[Mapping[str, Any]], table: Table, weights: Sequence[float] = ()
) -> dict[str, Any]:
    """Fields that the first part lacks are left out; KeyError if another one lacks a field."""
    weights = weights or [1] * len(parts)
    return {
        name: how([part[name] for part in parts], weights)
        for name, how in table.items()
        if name in parts[0]
    }


def first(values: Sequence[Any], _: Sequence[float]) -> Any:
    """What all have alike, or only the first knows."""
    return values[0]


def said(values: Sequence[Any], _: Sequence[float]) -> Any:
    """The first value that is one; else the last."""
    return next(filter(None, values), values[-1])


def total(values: Sequence[Any], _: Sequence[float]) -> Any:
    """Of numbers, or of each in maps of numbers."""
    if isinstance(values[0], dict):
        return {key: total([value[key] for value in values], _) for key in values[0]}
    return sum(values)


def mean(values: Sequence[Any], weights: Sequence[float]) -> float:
    weighted = sum(value * weight for value, weight in zip(values, weights, strict=True))
    return float(weighted / sum(weights))


def largest(values: Sequence[Any], _: Sequence[float]) -> Any:
    """Of those that are known; None if none is."""
    return max((value for value in values if value is not None), default=None)


def joined(values: Sequence[Any], _: Sequence[float]) -> Any:
    """Tuples one after the other, maps in one."""
    if isinstance(values[0], dict):
        return {key: value for part in values for key, value in part.items()}
    return tuple(part for whole in values for part in whole)


def merge_counters(parts: Sequence[Counters], weights: Sequence[float]) -> Counters:
    """One counter for each event of a side, in order of first appearance."""
    found: dict[tuple[str, str, str], list[tuple[Counter, float]]] = {}
    for counters, weight in zip(parts, weights, strict=True):
        for key, counter in counters.items():
            found.setdefault(key, []).append((counter, weight))
    return {key: merge_counter(*zip(*of, strict=True)) for key, of in found.items()}


def merge_counter(parts: Sequence[Counter], weights: Sequence[float]) -> Counter:
    if parts[0].unit == BYTES:
        return parts[-1]  # what there is in memory: at the end, after the whole load
    for counter in parts:
        if counter.state != COUNTED or counter.value is None:
            return counter
    how = mean if parts[0].unit == PERCENT else total
    return replace(
        parts[0],
        value=how([counter.value for counter in parts], weights),
        running_percent=mean([counter.running_percent or 0.0 for counter in parts], weights),
    )


def of_sides(windows: Sequence[Window]) -> Window:
    """What all sides counted in one window, or what all clients did."""
    table: Table = {
        "length_ns": largest,
        "counters": merge_counters,
        "others": lambda parts, _: disturbance.at_once(parts),
        "rests": joined,
        "client": said,
        "samples": said,
        "printed": joined,
    }
    return Window(**merged([vars(window) for window in windows], table))


@contextmanager
def required(whose: str) -> Iterator[None]:
    """Turns the lack of a field in a summary into a TrialError."""
    try:
        yield
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise TrialError(f"{whose} JSON lacks a required field ({error!r})") from error


@required("the client's")
def of_slices(windows: Sequence[Window]) -> Window:
    """The whole of a trial's windows; TrialError if a summary lacks a required field."""
    table: Table = {
        "length_ns": total,
        "counters": merge_counters,
        "others": lambda parts, _: disturbance.merge(parts),
        "rests": joined,
        "client": lambda parts, _: merge_slices(parts),
        "samples": lambda parts, _: join_samples(parts),
        "printed": joined,
    }
    lengths = [window.length_ns for window in windows]
    return Window(**merged([vars(window) for window in windows], table, lengths))


COUNTS = (
    *("requests", "answered", "unstarted", "connections_opened", "resent", "bytes_received"),
    *("idle_lost", "slow_requests", "slow_lost", "resumed", "events"),
)
ONE_LOAD: Table = {
    **dict.fromkeys(("target", "engine", "load", "dialect", "per_connection", "arrivals"), first),
    **dict.fromkeys(("streams", "http2", "websocket", "tls"), first),
    **dict.fromkeys((*COUNTS, "errors", "usage"), total),
}
"""What slices and clients merge alike."""
SLICES: Table = {
    **ONE_LOAD,
    **dict.fromkeys(("connections", "threads", "idle", "slow", "rate_per_s"), first),
    "elapsed_ns": total,
    "cpu_share": mean,
    "client_bound": said,
    "start_skew_ns": largest,
    "clients": lambda slices, weights: [
        merge_one(rows, weights) for rows in zip(*slices, strict=True)
    ],
}
"""The client's summaries of consecutive slices; its latencies are only in the samples."""
ONE_OF_SEVERAL: Table = {
    **dict.fromkeys(("host", "connections", "rate_per_s"), first),
    **dict.fromkeys((*COUNTS, "elapsed_ns"), total),
    "cpu_share": mean,
    "client_bound": said,
    **dict.fromkeys(("began_late_ns", "clock_bound_ns"), largest),
}
"""One of several clients over all slices."""
CLIENTS: Table = {
    **ONE_LOAD,
    "rounds": first,
    **dict.fromkeys(("connections", "threads", "rate_per_s", "achieved_per_s"), total),
    **dict.fromkeys(("idle", "slow"), total),
    "problem": said,
}
"""Clients that shared a load. What each did is kept too, in `clients`."""
OF_EACH = (
    *("connections", "rate_per_s", "requests", "answered", "unstarted", "cpu_share"),
    "client_bound",
)


def merge_slices(summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    if len(summaries) == 1:
        return summaries[0]
    whole = merged(summaries, SLICES, [summary["elapsed_ns"] for summary in summaries])
    whole["slices"] = len(summaries)
    whole["throughput_per_s"] = whole["answered"] / whole["elapsed_ns"] * NS_PER_S
    return whole


def merge_one(rows: Sequence[dict[str, Any]], weights: Sequence[float]) -> dict[str, Any]:
    # The offset is of the same slice as the bound that is kept.
    offset = max(rows, key=lambda row: row["clock_bound_ns"])["clock_offset_ns"]
    return {**merged(rows, ONE_OF_SEVERAL, weights), "clock_offset_ns": offset}


HostCpus = tuple[str, tuple[int, ...]]
"""A host and some of its CPUs."""


@dataclass(frozen=True)
class ClientStart:
    """Where a client ran, and the start time that it was given."""

    host: str
    """Empty: this machine."""
    cpus: tuple[int, ...]
    at_ns: int
    """By the client's clock."""
    offset: ClockOffset


@required("a client's")
def pool_clients(
    summaries: Sequence[dict[str, Any]], starts: Sequence[ClientStart]
) -> dict[str, Any]:
    """One summary of the load; TrialError if a client's JSON lacks a required field."""
    pooled = merged(summaries, CLIENTS)
    pairs = list(zip(summaries, starts, strict=True))
    late = [summary["began_ns"] - start.at_ns for summary, start in pairs]
    shares = cpu_shares(pairs)
    pooled["cpu_share"] = max(shares.values())  # the busiest client limits all
    pooled["client_bound"] = client_bound(summaries, pooled["cpu_share"])
    pooled["start_skew_ns"] = max(late) - min(late)
    pooled["clients"] = [
        {
            "host": start.host,
            **{key: summary[key] for key in OF_EACH if key in summary},
            "began_late_ns": late_ns,
            "clock_offset_ns": start.offset.ns,
            "clock_bound_ns": start.offset.bound_ns,
        }
        for (summary, start), late_ns in zip(pairs, late, strict=True)
    ]
    return pooled


def began_apart(summary: dict[str, Any]) -> str | None:
    """Why a load is invalid as its clients did not start together; None if they did."""
    if "clients" not in summary:
        return None
    unknown_ns = sum(sorted(client["clock_bound_ns"] for client in summary["clients"])[-2:])
    skew_ms = (summary["start_skew_ns"] + unknown_ns) / NS_PER_MS
    if skew_ms <= START_SKEW_LIMIT_MS:
        return None
    return f"its clients began up to {skew_ms:.1f} ms apart (clock uncertainty included)"


def cpu_shares(pairs: Sequence[tuple[dict[str, Any], ClientStart]]) -> dict[HostCpus, float]:
    """The CPU share of each set of client CPUs; clients on the same CPUs are added."""
    found: dict[HostCpus, float] = {}
    for summary, start in pairs:
        host_cpus = (start.host, start.cpus)
        found[host_cpus] = min(1.0, found.get(host_cpus, 0.0) + summary["cpu_share"])
    return found


def client_bound(summaries: Sequence[dict[str, Any]], share: float) -> str | None:
    """Why the clients were the limit of the load; None if they were not.

    The first that was the bottleneck limits the whole load. Clients that share a CPU, of which they
    used `share`, can be the bottleneck together before any of them is alone.
    """
    for number, summary in enumerate(summaries, 1):
        if summary["client_bound"]:
            return f"{summary['client_bound']} (client {number} of {len(summaries)})"
    shortest_ns = min(summary["elapsed_ns"] for summary in summaries)
    if share <= CPU_SHARE_LIMIT or shortest_ns < SHORTEST_WINDOW_NS:
        return None
    return f"used {100 * share:.0f} % of a CPU that several clients share"


def with_samples(pooled: dict[str, Any], records: NDArray[np.void]) -> dict[str, Any]:
    """Adds elapsed time, throughput and p99, which take the samples of all clients."""
    started = records[records["error"] != UNSTARTED]
    elapsed_ns = int(started["end_ns"].max() - started["start_ns"].min())
    return pooled | {
        "elapsed_ns": elapsed_ns,
        "throughput_per_s": pooled["answered"] / max(1, elapsed_ns) * NS_PER_S,
        "latency_ns": latency_of(records),
    }


def latency_of(records: NDArray[np.void]) -> dict[str, Any]:
    """The p99 of all requests by nearest rank, as in a client's own summary. Requests that timed
    out or never started rank last; if one of them is the p99, only a lower bound is known."""
    took = records["end_ns"] - records["start_ns"]
    known = np.sort(took[records["error"] == ANSWERED])
    at_least = took[np.isin(records["error"], (TIMED_OUT, UNSTARTED))]
    at = -(-99 * (len(known) + len(at_least)) // 100) - 1
    if at < len(known):
        return {"p99": int(known[at]), "over": {}}
    return {"p99": None, "over": {"p99": int(np.sort(np.concatenate([known, at_least]))[at])}}
