"""The windows of a trial's slices, and the figures of the whole trial."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from regatta.errors import TrialError
from regatta.ledger.counters import Counter
from regatta.ledger.samples import pack_samples
from regatta.machine.disturbance import Others
from regatta.machine.whole_cpu import BySide
from regatta.trial.merge import due, merge_clients, merge_counters
from regatta.trial.rest import Ends


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
    """Who else took the race's CPUs."""
    rest: Ends | None = None
    """None for a whole process."""
    cpus: BySide = field(default_factory=dict)
    """All that each side's CPUs did."""
    client_printed: str = ""
    """What perf stat printed of a whole client; empty of a window, and without perf."""


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
