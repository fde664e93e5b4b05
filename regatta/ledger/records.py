"""What a ledger says of a race, as plain data: its cells, its trials and their counters."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from regatta.ledger.cell import Cell
from regatta.ledger.counters import Counter
from regatta.ledger.given.records import Given
from regatta.ledger.probe import Probe
from regatta.ledger.result import OK

LATE = "started only"
"""How the client's words begin where it was late, and not busy."""


@dataclass(frozen=True)
class SearchRecord:
    """What was found of what one contender holds, before the race."""

    cell: Cell
    """Its load is `matched`, and it has no rate."""
    shares: list[float]
    p99_limit_ms: float
    knee: bool
    probes: list[Probe]
    """Those that are believed, in their order."""


@dataclass(frozen=True)
class Sitting:
    """One time that the study was raced, from its beginning or from where it was stopped."""

    number: int
    """From 1; one that was stopped and resumed has several of these."""
    started_at: float
    boot_id: str | None
    cpu_model: str
    kernel: str
    link_order: int | None
    """What the order of the server's functions was drawn with; None: as it was built."""
    environment_bytes: int
    """Of padding in the environment of every server."""


@dataclass(frozen=True)
class ClientPart:
    """One of several clients that shared a trial's load. Of its slices the worst is kept."""

    host: str
    """Empty: the lab's own."""
    connections: int
    requests: int
    answered: int
    cpu_share: float
    """Of the CPU that it could use, 0 to 1."""
    client_bound: str | None
    late_p99_ns: int | None
    """Its own delay in an open load; None of another load."""
    began_late_ns: int
    """After the moment that it was told, by its own clock."""
    clock_bound_ns: int
    """By how much that clock may differ from what was found, either way."""


@dataclass(frozen=True)
class Trial:
    id: int
    block: int
    cell_id: int
    kind: str
    status: str
    reason: str | None
    client_bound: str | None
    """Why the client, and not the server, set the pace, as it says itself; None if it did not."""
    window_ns: int | None
    requests: int | None
    answered: int | None
    unstarted: int
    """Of an open load: requests that were due and had not started when the window ended."""
    throughput_per_s: float | None
    conditions: dict[str, Any]
    workers: list[int]
    """Connections that each worker of the server has served."""
    attempt: int
    """Of this block and cell, from 1."""
    disturbed: str | None
    """What else took the trial's CPUs beyond the limit; None if nothing did."""
    superseded: bool
    """Run again, or to be when the race goes on: a later attempt stands for it."""
    scope: str
    """Of its cell: `window` or `process`."""
    samples: bytes | None = field(repr=False)
    counters: dict[tuple[str, str, str], Counter] = field(repr=False)
    """Keyed by side, origin and event."""
    sitting: int = 1
    """That it was run in."""
    load_ns: int | None = None
    """From the first start of a request to the last end, by the client; of all slices together."""
    rounds: int | None = None
    """Bursts of its load; None of another load."""
    printed: dict[str, str] = field(default_factory=dict, repr=False)
    """What perf stat printed of each side of a whole process."""
    clients: tuple[ClientPart, ...] = ()
    """Empty where one client made the whole load."""
    start_skew_ns: int = 0
    """Between the first and the last of them to begin; of several slices the largest."""

    @property
    def held_up(self) -> str | None:
        """What took the CPUs of a client that did not keep up: then it is not to blame."""
        if self.client_bound is None or "client_held_up" in self.conditions:
            found: str | None = self.conditions.get("client_held_up")
            return found
        # An older race did not tell the client's CPUs from the server's.
        return self.disturbed if self.client_bound.startswith(LATE) else None

    @property
    def is_restless(self) -> bool:
        """Whether its server was not at rest at an end of a window."""
        return any(self.conditions.get(key) for key in ("restless_before", "restless_after"))

    @property
    def is_client_bound(self) -> bool:
        """Whether the client set the pace of its own accord."""
        return self.status == OK and self.client_bound is not None and self.held_up is None

    @property
    def counts(self) -> bool:
        """True if it says something about the server: it went well, and the client kept up."""
        return self.status == OK and self.client_bound is None and not self.superseded


@dataclass(frozen=True)
class RaceRecord:
    """All that a ledger says of a race."""

    meta: dict[str, str]
    """What it says of its race: its study, its settings, its times."""
    environment: dict[str, Any]
    """Facts of where and with what it ran."""
    given: Given
    cells: list[Cell]
    trials: list[Trial]
    planned: int
    searches: list[SearchRecord]
    """Of matched loads; empty if the study has none."""
    sittings: list[Sitting] = field(default_factory=list)
    """In the order in which they were begun or gone on with."""

    @cached_property
    def last_attempts(self) -> list[Trial]:
        """The trials that stand: of those that were run again the last attempt alone."""
        return [trial for trial in self.trials if not trial.superseded]

    @cached_property
    def by_cell(self) -> dict[int, list[Trial]]:
        """The same by the id of their cell; a cell without a trial is not in it."""
        found: dict[int, list[Trial]] = {}
        for trial in self.last_attempts:
            found.setdefault(trial.cell_id, []).append(trial)
        return found

    def trials_of(self, cell: Cell) -> list[Trial]:
        """Its last attempts, in the order of the blocks."""
        return self.by_cell.get(cell.id, [])
