"""From the windows of a trial's slices to the figures of the whole trial.

Sums are added; a share is weighted by the length of its window; what one slice could not count is
not counted at all.
"""

from collections.abc import Sequence
from typing import Any

from regatta.errors import TrialError
from regatta.ledger.counters import COUNTED, Counter
from regatta.ledger.samples import pack_samples
from regatta.machine.whole_cpu import BySide
from regatta.trial.window import Window

NS_PER_S = 1e9
SUMS = ("requests", "answered", "connections_opened", "bytes_received", "elapsed_ns", "unstarted")
SAME_IN_EVERY_SLICE = (
    *("target", "engine", "load", "dialect", "connections", "idle", "slow"),
    *("per_connection", "rate_per_s", "arrivals"),
)
PERCENT = "%"


def merge_counters(slices: Sequence[Sequence[Counter]], lengths_ns: Sequence[int]) -> list[Counter]:
    """One counter for each event of any slice, in the order of the first."""
    found: dict[str, list[tuple[Counter, int]]] = {}
    for counters, length_ns in zip(slices, lengths_ns, strict=True):
        for counter in counters:
            found.setdefault(counter.event, []).append((counter, length_ns))
    return [merge_counter(parts) for parts in found.values()]


def merge_counter(parts: Sequence[tuple[Counter, int]]) -> Counter:
    """The counter of one event."""
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
    """The client's summary of the whole load; latencies are only in the samples."""
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
    return merged


def due(client: dict[str, Any]) -> int:
    """The requests that it started, and those of an open load that it did not start."""
    requests: int = client["requests"] + client.get("unstarted", 0)
    return requests


def add_up(parts: Sequence[dict[str, int]]) -> dict[str, int]:
    return {key: sum(part[key] for part in parts) for key in parts[0]}


def merge_cpus(windows: Sequence[Window]) -> BySide:
    """All that each side's CPUs did in the windows; a whole process has none."""
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
        raise TrialError("the client's JSON lacks what all of its slices add up to") from error
    samples = pack_samples([(window.samples, due(window.client)) for window in windows])
    return (
        client,
        merge_counters([window.accounts for window in windows], lengths),
        merge_counters([window.client_counters for window in windows], lengths),
        samples,
    )
