"""The result of each measured window, and their merge into figures of the whole trial."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from regatta.errors import TrialError
from regatta.ledger.counters import Counter
from regatta.ledger.rate_search import due
from regatta.ledger.samples import pack_samples
from regatta.machine.accounts.disturbance import Others
from regatta.machine.accounts.whole_cpu import BySide
from regatta.trial.idle_wait import Ends
from regatta.trial.merge import merge_clients, merge_counters


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
