"""From the summaries of clients that shared a load, at the same time, to one of the whole load.

Sums are added. What each client was like stays beside them: whether it was the limit, how late its
requests were, and when it began, by its own clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regatta.errors import TrialError
from regatta.ledger.samples import ANSWERED, TIMED_OUT, UNSTARTED
from regatta.machine.clocks import Offset
from regatta.machine.disturbance import CPU_SHARE_LIMIT
from regatta.study.limits import START_SKEW_LIMIT_MS
from regatta.trial.merge import NS_PER_S, add_up

SHARED = ("target", "engine", "load", "dialect", "per_connection", "arrivals", "rounds")
SUMS = (
    *("connections", "rate_per_s", "achieved_per_s", "requests", "answered", "unstarted"),
    *("connections_opened", "bytes_received", "idle", "idle_lost"),
    *("slow", "slow_requests", "slow_lost"),
)
NS_PER_MS = 1e6
SHORTEST_WINDOW_NS = 20_000_000
"""Of which a share tells anything, as in src/results/client_bound.c."""
Place = tuple[str, tuple[int, ...]]
"""A host, and CPUs of it."""
OF_EACH = ("connections", "rate_per_s", "requests", "answered", "unstarted", "cpu_share")


@dataclass(frozen=True)
class Told:
    """Where one of them was, and when it was told to begin."""

    host: str
    """Empty: the lab's own."""
    cpus: tuple[int, ...]
    at_ns: int
    """By its own clock."""
    offset: Offset
    """Of that clock."""


def pool_clients(summaries: Sequence[dict[str, Any]], told: Sequence[Told]) -> dict[str, Any]:
    """One summary; TrialError if one of them lacks what all add up to."""
    try:
        return pool(summaries, told)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise TrialError("the clients' JSON lacks what they add up to") from error


def pool(summaries: Sequence[dict[str, Any]], told: Sequence[Told]) -> dict[str, Any]:
    first = summaries[0]
    pooled = {key: first[key] for key in SHARED if key in first}
    pooled |= {key: sum(one[key] for one in summaries) for key in SUMS if key in first}
    pairs = list(zip(summaries, told, strict=True))
    began = [one["began_ns"] - its.offset.ns for one, its in pairs]
    ended = [start + one["elapsed_ns"] for start, one in zip(began, summaries, strict=True)]
    late = [one["began_ns"] - its.at_ns for one, its in pairs]
    pooled["elapsed_ns"] = max(ended) - min(began)
    pooled["throughput_per_s"] = pooled["answered"] / pooled["elapsed_ns"] * NS_PER_S
    shares = cpu_shares(pairs)
    pooled["cpu_share"] = fmean(shares.values())
    pooled["client_bound"] = why_bound(summaries) or why_crowded(shares, pooled["elapsed_ns"])
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
            "clock_bound_ns": its.offset.bound_ns,
        }
        for (one, its), late_ns in zip(pairs, late, strict=True)
    ]
    return pooled


def began_apart(summary: dict[str, Any]) -> str | None:
    """Why a load was not what was asked for; None if its clients began together."""
    skew_ms = summary.get("start_skew_ns", 0) / NS_PER_MS
    return f"its clients began {skew_ms:.1f} ms apart" if skew_ms > START_SKEW_LIMIT_MS else None


def cpu_shares(pairs: Sequence[tuple[dict[str, Any], Told]]) -> dict[Place, float]:
    """Of the CPUs of each client; those that share theirs use them together."""
    found: dict[Place, float] = {}
    for one, its in pairs:
        place = (its.host, its.cpus)
        found[place] = min(1.0, found.get(place, 0.0) + one["cpu_share"])
    return found


def why_crowded(shares: dict[Place, float], elapsed_ns: int) -> str | None:
    """Clients on one CPU are the limit together before any of them is by itself."""
    share = max(shares.values())
    if share <= CPU_SHARE_LIMIT or elapsed_ns < SHORTEST_WINDOW_NS:
        return None
    return f"used {100 * share:.0f} % of a CPU that several clients share"


def why_bound(summaries: Sequence[dict[str, Any]]) -> str | None:
    """Of the first that was the limit: then so were all together."""
    for number, one in enumerate(summaries, 1):
        if one["client_bound"]:
            return f"{one['client_bound']} (client {number} of {len(summaries)})"
    return None


def late_p99_ns(summary: dict[str, Any]) -> int | None:
    """How late it was itself in an open load, or a lower bound; None of other loads."""
    late = summary.get("late_ns")
    if summary["load"] != "open" or late is None:
        return None
    p99: int | None = late["p99"] if late["p99"] is not None else late["over"].get("p99")
    return p99


def latency_of(records: NDArray[np.void]) -> dict[str, Any]:
    """The p99 of all requests by nearest rank, as one client tells it: those that timed out or
    never started come last, and where it is one of them only a lower bound is known."""
    took = records["end_ns"] - records["start_ns"]
    known = np.sort(took[records["error"] == ANSWERED])
    at_least = took[np.isin(records["error"], (TIMED_OUT, UNSTARTED))]
    at = -(-99 * (len(known) + len(at_least)) // 100) - 1
    if at < len(known):
        return {"p99": int(known[at]), "over": {}}
    return {"p99": None, "over": {"p99": int(np.sort(np.concatenate([known, at_least]))[at])}}
