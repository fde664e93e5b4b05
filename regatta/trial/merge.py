"""Merges the figures of a trial's slices, or of several hosts, into those of the whole.

Counts are added, percentages are averaged weighted by window length, and a counter that failed in
any slice has no value for the trial.
"""

from collections.abc import Sequence
from typing import Any

from regatta.ledger.counters import COUNTED, Counter
from regatta.machine.accounts.whole_cpu import BySide

NS_PER_S = 1e9
COUNTS = (
    *("requests", "answered", "unstarted", "connections_opened", "resent", "bytes_received"),
    *("idle_lost", "slow_requests", "slow_lost"),
)
SUMS = (*COUNTS, "elapsed_ns")
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
    merged = {key: sum(summary[key] for summary in summaries) for key in SUMS if key in last}
    merged |= {key: last[key] for key in SAME_IN_EVERY_SLICE if key in last}
    merged["slices"] = len(summaries)
    merged["throughput_per_s"] = merged["answered"] / merged["elapsed_ns"] * NS_PER_S
    lengths = [summary["elapsed_ns"] for summary in summaries]
    merged["cpu_share"] = weighted([summary["cpu_share"] for summary in summaries], lengths)
    merged["client_bound"] = next((s["client_bound"] for s in summaries if s["client_bound"]), None)
    merged["errors"] = add_up([summary["errors"] for summary in summaries])
    merged["usage"] = {
        who: add_up([summary["usage"][who] for summary in summaries]) for who in last["usage"]
    }
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
    merged |= {key: sum(row[key] for row in rows) for key in SUMS if key in last}
    merged["cpu_share"] = weighted([row["cpu_share"] for row in rows], lengths)
    merged["client_bound"] = next(
        (row["client_bound"] for row in rows if row["client_bound"]), None
    )
    for key in WORST:
        merged[key] = max((row[key] for row in rows if row[key] is not None), default=None)
    # Of the same slice as the bound that is kept.
    merged["clock_offset_ns"] = max(rows, key=lambda row: row["clock_bound_ns"])["clock_offset_ns"]
    return merged


def add_up(parts: Sequence[dict[str, int]]) -> dict[str, int]:
    return {key: sum(part[key] for part in parts) for key in parts[0]}


def at_once(parts: Sequence[BySide]) -> BySide:
    """The CPU accounts of each side in one window, merged over its hosts."""
    found: dict[str, list[list[Counter]]] = {}
    for part in parts:
        for side, counters in part.items():
            found.setdefault(side, []).append(counters)
    return {side: merge_counters(lists, [1] * len(lists)) for side, lists in found.items()}
