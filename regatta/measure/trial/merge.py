"""Merges the figures of slices, windows and clients that shared a load into those of the whole
trial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regatta.errors import TrialError
from regatta.measure.accounts.disturbance import CPU_SHARE_LIMIT, Others
from regatta.measure.accounts.whole_cpu import BySide
from regatta.measure.places.sides import ClockOffset
from regatta.measure.trial.idle_wait import Ends
from regatta.record.counters import COUNTED, Counter
from regatta.record.rate_search import due
from regatta.record.samples import ANSWERED, TIMED_OUT, UNSTARTED, pack_samples
from regatta.record.study.limits import START_SKEW_LIMIT_MS

# Merges the figures of a trial's slices, or of several hosts, into those of the whole. Counts are
# added, percentages are averaged weighted by window length, and a counter that failed in any slice
# has no value for the trial.

NS_PER_S = 1e9
COUNTS = (
    *("requests", "answered", "unstarted", "connections_opened", "resent", "bytes_received"),
    *("idle_lost", "slow_requests", "slow_lost"),
)
SUMS_OF_SLICES = (*COUNTS, "elapsed_ns")
SAME_IN_EVERY_SLICE = (
    *("target", "engine", "load", "dialect", "connections", "idle", "slow"),
    *("per_connection", "rate_per_s", "arrivals"),
)
PERCENT = "%"
SHARES = ("host", "connections", "rate_per_s")
WORST = ("late_p99_ns", "began_late_ns", "clock_bound_ns")
"""The worst over slices, for each of several clients."""


def merge_counters(slices: Sequence[Sequence[Counter]], lengths_ns: Sequence[int]) -> list[Counter]:
    """One counter for each event, in order of first appearance."""
    found: dict[str, list[tuple[Counter, int]]] = {}
    for counters, length_ns in zip(slices, lengths_ns, strict=True):
        for counter in counters:
            found.setdefault(counter.event, []).append((counter, length_ns))
    return [merge_counter(parts) for parts in found.values()]


def merge_counter(parts: Sequence[tuple[Counter, int]]) -> Counter:
    """Merges the counters of one event, each with its window's length."""
    first = parts[0][0]
    for counter, _ in parts:
        if counter.state != COUNTED or counter.value is None:
            return counter
    weights = [length_ns for _, length_ns in parts]
    values = [counter.value or 0.0 for counter, _ in parts]
    value = weighted(values, weights) if first.unit == PERCENT else sum(values)
    shares = [counter.running_percent or 0.0 for counter, _ in parts]
    return Counter(first.event, value, first.unit, weighted(shares, weights), COUNTED)


def weighted(values: Sequence[float], weights: Sequence[int]) -> float:
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)


def merge_clients(summaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The client's summary of the whole load; its latencies are only in the samples."""
    if len(summaries) == 1:
        return summaries[0]
    last = summaries[-1]
    merged = merged_summary(summaries, SAME_IN_EVERY_SLICE, SUMS_OF_SLICES)
    merged["slices"] = len(summaries)
    merged["throughput_per_s"] = merged["answered"] / merged["elapsed_ns"] * NS_PER_S
    lengths = [summary["elapsed_ns"] for summary in summaries]
    merged["cpu_share"] = weighted([summary["cpu_share"] for summary in summaries], lengths)
    merged["client_bound"] = next((s["client_bound"] for s in summaries if s["client_bound"]), None)
    if "clients" in last:
        merged["start_skew_ns"] = max(summary["start_skew_ns"] for summary in summaries)
        merged["clients"] = [
            merge_one(rows, lengths)
            for rows in zip(*(summary["clients"] for summary in summaries), strict=True)
        ]
    return merged


def merge_one(rows: Sequence[dict[str, Any]], lengths: Sequence[int]) -> dict[str, Any]:
    """One of several clients over all slices: sums, weighted means, and the worst of the rest."""
    last = rows[-1]
    merged: dict[str, Any] = {key: last[key] for key in SHARES if key in last}
    merged |= {key: sum(row[key] for row in rows) for key in SUMS_OF_SLICES if key in last}
    merged["cpu_share"] = weighted([row["cpu_share"] for row in rows], lengths)
    merged["client_bound"] = next(
        (row["client_bound"] for row in rows if row["client_bound"]), None
    )
    for key in WORST:
        merged[key] = max((row[key] for row in rows if row[key] is not None), default=None)
    # Of the same slice as the bound that is kept.
    merged["clock_offset_ns"] = max(rows, key=lambda row: row["clock_bound_ns"])["clock_offset_ns"]
    return merged


def merged_summary(
    summaries: Sequence[dict[str, Any]], same: Sequence[str], sums: Sequence[str]
) -> dict[str, Any]:
    """What slices and clients merge alike. Keys that the client did not print are left out."""
    first = summaries[0]
    return {
        **{key: first[key] for key in same if key in first},
        **{key: sum(one[key] for one in summaries) for key in sums if key in first},
        "errors": add_up([one["errors"] for one in summaries]),
        "usage": {who: add_up([one["usage"][who] for one in summaries]) for who in first["usage"]},
    }


def add_up(parts: Sequence[dict[str, int]]) -> dict[str, int]:
    return {key: sum(part[key] for part in parts) for key in parts[0]}


def at_once(parts: Sequence[BySide]) -> BySide:
    """The CPU accounts of each side in one window, merged over its hosts."""
    found: dict[str, list[list[Counter]]] = {}
    for part in parts:
        for side, counters in part.items():
            found.setdefault(side, []).append(counters)
    return {side: merge_counters(lists, [1] * len(lists)) for side, lists in found.items()}


# Merges the summaries of clients that shared a load into a summary of the whole load. Counts are
# added. Each client's own figures are also kept: whether it was the bottleneck, how late its
# requests were, and when it started by its own clock.

SHARED = ("target", "engine", "load", "dialect", "per_connection", "arrivals", "rounds")
SUMS_OF_CLIENTS = (*COUNTS, "connections", "rate_per_s", "achieved_per_s", "idle", "slow")
NS_PER_MS = 1e6
SHORTEST_WINDOW_NS = 20_000_000
"""In a shorter window a CPU share means nothing; as in src/client/results/client_bound.c."""
HostCpus = tuple[str, tuple[int, ...]]
"""A host and some of its CPUs."""
OF_EACH = ("connections", "rate_per_s", "requests", "answered", "unstarted", "cpu_share")


@dataclass(frozen=True)
class ClientStart:
    """Where a client ran, and the start time that it was given."""

    host: str
    """Empty: this machine."""
    cpus: tuple[int, ...]
    at_ns: int
    """By the client's clock."""
    offset: ClockOffset
    """Of the client's clock."""


def pool_clients(
    summaries: Sequence[dict[str, Any]], told: Sequence[ClientStart]
) -> dict[str, Any]:
    """One summary of the load; TrialError if a client's JSON lacks a required field."""
    try:
        return pool(summaries, told)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise TrialError(f"a client's JSON lacks a required field ({error!r})") from error


def pool(summaries: Sequence[dict[str, Any]], told: Sequence[ClientStart]) -> dict[str, Any]:
    pooled = merged_summary(summaries, SHARED, SUMS_OF_CLIENTS)
    pairs = list(zip(summaries, told, strict=True))
    late = [one["began_ns"] - its.at_ns for one, its in pairs]
    shortest_ns = min(one["elapsed_ns"] for one in summaries)
    shares = cpu_shares(pairs)
    pooled["cpu_share"] = max(shares.values())  # the busiest client limits all
    pooled["client_bound"] = client_bound(summaries) or shared_cpu_bound(shares, shortest_ns)
    pooled["problem"] = next((one["problem"] for one in summaries if one.get("problem")), None)
    pooled["start_skew_ns"] = max(late) - min(late)
    pooled["clients"] = [
        {
            "host": its.host,
            **{key: one[key] for key in OF_EACH if key in one},
            "client_bound": one["client_bound"],
            "late_p99_ns": late_p99_ns(one),
            "began_late_ns": late_ns,
            "clock_offset_ns": its.offset.ns,
            "clock_bound_ns": its.offset.bound_ns,
        }
        for (one, its), late_ns in zip(pairs, late, strict=True)
    ]
    return pooled


def began_apart(summary: dict[str, Any]) -> str | None:
    """Why a load is invalid as its clients did not start together; None if they did."""
    if "clients" not in summary:
        return None
    unknown_ns = sum(sorted(one["clock_bound_ns"] for one in summary["clients"])[-2:])
    skew_ms = (summary["start_skew_ns"] + unknown_ns) / NS_PER_MS
    if skew_ms <= START_SKEW_LIMIT_MS:
        return None
    return f"its clients began up to {skew_ms:.1f} ms apart (clock uncertainty included)"


def cpu_shares(pairs: Sequence[tuple[dict[str, Any], ClientStart]]) -> dict[HostCpus, float]:
    """The CPU share of each set of client CPUs; clients on the same CPUs are added."""
    found: dict[HostCpus, float] = {}
    for one, its in pairs:
        host_cpus = (its.host, its.cpus)
        found[host_cpus] = min(1.0, found.get(host_cpus, 0.0) + one["cpu_share"])
    return found


def shared_cpu_bound(shares: dict[HostCpus, float], elapsed_ns: int) -> str | None:
    """Clients that share a CPU can be the bottleneck together before any of them is alone."""
    share = max(shares.values())
    if share <= CPU_SHARE_LIMIT or elapsed_ns < SHORTEST_WINDOW_NS:
        return None
    return f"used {100 * share:.0f} % of a CPU that several clients share"


def client_bound(summaries: Sequence[dict[str, Any]]) -> str | None:
    """The reason of the first client that was the bottleneck: then the whole load was limited."""
    for number, one in enumerate(summaries, 1):
        if one["client_bound"]:
            return f"{one['client_bound']} (client {number} of {len(summaries)})"
    return None


def late_p99_ns(summary: dict[str, Any]) -> int | None:
    """How late the client started requests of an open load (p99), or a lower bound; else None."""
    late = summary.get("late_ns")
    if summary["load"] != "open" or late is None:
        return None
    p99: int | None = late["p99"] if late["p99"] is not None else late["over"].get("p99")
    return p99


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


@dataclass(frozen=True)
class Window:
    """The result of one measured load."""

    length_ns: int
    accounts: list[Counter]
    """The kernel's accounts of the server."""
    client: dict[str, Any]
    """The client's own summary."""
    client_counters: list[Counter]
    """perf's."""
    samples: bytes
    others: Others
    """CPU time that others took."""
    rest: Ends | None = None
    """None for a whole process."""
    cpus: BySide = field(default_factory=dict)
    """The busy time of each side's CPUs."""
    memory: Sequence[Counter] = ()
    """What the server had in memory at its end; empty if that is not measured."""
    client_printed: str = ""
    """perf's output for a client counted from exec to exit; else empty."""


def merge_cpus(windows: Sequence[Window]) -> BySide:
    """The busy time of each side's CPUs over all windows; empty for a whole process."""
    lengths = [window.length_ns for window in windows]
    return {
        side: merge_counters([window.cpus[side] for window in windows], lengths)
        for side in windows[0].cpus
    }


def merge_windows(
    windows: Sequence[Window],
) -> tuple[dict[str, Any], list[Counter], list[Counter], bytes]:
    """The client's summary, the server's accounts, the client's counters, the packed samples."""
    lengths = [window.length_ns for window in windows]
    try:
        client = merge_clients([window.client for window in windows])
    except (KeyError, TypeError, ZeroDivisionError) as error:
        raise TrialError(f"the client's JSON lacks a required field ({error!r})") from error
    samples = pack_samples([(window.samples, due(window.client)) for window in windows])
    return (
        client,
        merge_counters([window.accounts for window in windows], lengths),
        merge_counters([window.client_counters for window in windows], lengths),
        samples,
    )
