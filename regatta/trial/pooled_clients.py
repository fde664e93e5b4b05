"""Merges the summaries of clients that shared a load into a summary of the whole load.

Counts are added. Each client's own figures are also kept: whether it was the bottleneck, how
late its requests were, and when it started by its own clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regatta.errors import TrialError
from regatta.ledger.samples import ANSWERED, TIMED_OUT, UNSTARTED
from regatta.machine.accounts.disturbance import CPU_SHARE_LIMIT
from regatta.machine.sides.clock_offset import ClockOffset
from regatta.study.limits import START_SKEW_LIMIT_MS
from regatta.trial.merge import COUNTS, NS_PER_S, add_up

SHARED = ("target", "engine", "load", "dialect", "per_connection", "arrivals", "rounds")
SUMS = (*COUNTS, "connections", "rate_per_s", "achieved_per_s", "idle", "slow")
NS_PER_MS = 1e6
SHORTEST_WINDOW_NS = 20_000_000
"""In a shorter window a CPU share means nothing; as in src/results/client_bound.c."""
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
    first = summaries[0]
    pooled = {key: first[key] for key in SHARED if key in first}
    pooled |= {key: sum(one[key] for one in summaries) for key in SUMS if key in first}
    pairs = list(zip(summaries, told, strict=True))
    late = [one["began_ns"] - its.at_ns for one, its in pairs]
    shortest_ns = min(one["elapsed_ns"] for one in summaries)
    shares = cpu_shares(pairs)
    pooled["cpu_share"] = max(shares.values())  # the busiest client limits all
    pooled["client_bound"] = client_bound(summaries) or shared_cpu_bound(shares, shortest_ns)
    pooled["problem"] = next((one["problem"] for one in summaries if one.get("problem")), None)
    pooled["errors"] = add_up([one["errors"] for one in summaries])
    pooled["usage"] = {
        who: add_up([one["usage"][who] for one in summaries]) for who in first["usage"]
    }
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
