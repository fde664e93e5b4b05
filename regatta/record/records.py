"""Plain data: a planned trial, the trial itself, a probe, and a race as read from its ledger."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from regatta.record.cell import WINDOW, Cell, MatchedCell
from regatta.record.counters import CPU_TIME, Counter, Counters, parse_event_name
from regatta.record.inputs import RaceInputs

TIMED = "timed"
COUNTED_TRIAL = "counted"
ALONE = "alone"
"""Timed, with no other server running: shows how servers affect each other."""
SAMPLED = "sampled"
"""With samples of what the server's CPUs do; in no average."""
TRACED = "traced"
"""With a trace of its requests; in no average."""


@dataclass(frozen=True)
class PlannedTrial:
    """One planned trial. `cell_id` counts the study's cells from 1."""

    block: int
    position: int
    cell_id: int
    kind: str
    sitting: int = 1


CLOSED, SEARCH, KNEE = "closed", "search", "knee"


@dataclass(frozen=True)
class PlannedProbe:
    search_id: int
    """Counts the study's matched cells from 1."""
    kind: str
    """`search`; `knee`: measures latency at this rate; or `closed`: before a search, measures what
    a request costs the client at full load."""
    block: int
    rate: int
    """0 for closed probes."""
    duration_s: float
    share: float | None = None
    """Knee probes: share of the contender's sustained rate."""


@dataclass(frozen=True)
class Probe:
    """The result of a probe. The fields are the ledger's columns, after those of the plan."""

    planned: PlannedProbe
    why_not: str | None
    """Why the rate is not sustained; None if it is."""
    started_at: float
    disturbed: str | None = None
    """Other programs that used the CPUs, in words."""
    client: dict[str, Any] | None = None
    samples: bytes | None = None
    """Knee probes only."""


OK = "ok"
FAILED = "failed"
SERVER = "server"
CLIENT = "client"
PERF = "perf"
KERNEL = "kernel"
CPUS = "cpus"


ANSWERS, DIFFER = "answers", "answers_differ"
"""Keys of `environment`: what was answered before the race, and who answered otherwise."""


@dataclass(frozen=True)
class SearchRecord:
    """The search for the rate that one contender sustains, before the race."""

    cell: MatchedCell
    probes: list[Probe]
    """Valid probes (not repeated), in order."""


@dataclass(frozen=True)
class Sitting:
    """The start of a sitting, or its continuation after an interruption."""

    number: int
    """Counted from 1; an interrupted sitting has several records."""
    started_at: float
    boot_id: str | None
    cpu_model: str
    kernel: str
    link_order: int | None
    """Seed of the order of the server's functions; None: as built."""
    environment_bytes: int
    """Padding in every server's environment."""


@dataclass
class Trial:
    """One trial, from the sides that count it to its row in the ledger and back.

    The fields are the row's columns; the last ones (BESIDE_ROW) are in other tables.
    """

    block: int = 0
    position: int = 0
    cell_id: int = 0
    kind: str = TIMED
    sitting: int = 1
    status: str = OK
    reason: str | None = None
    """Why it failed."""
    client_bound: str | None = None
    """Why the client, not the server, was the bottleneck, in its own words; None if it was not."""
    started_at: float = 0.0
    window_ns: int | None = None
    """Sum over all slices."""
    requests: int | None = None
    answered: int | None = None
    throughput_per_s: float | None = None
    server: dict[str, Any] | None = field(default=None, repr=False)
    """The server's summary; of other contenders, their last output."""
    client: dict[str, Any] | None = field(default=None, repr=False)
    """The client's summary."""
    conditions: dict[str, Any] = field(default_factory=dict)
    samples: bytes | None = field(default=None, repr=False)
    stacks: bytes | None = field(default=None, repr=False)
    """What the server's CPUs did in the window (recordings.py), of sampled trials."""
    traced: bytes | None = field(default=None, repr=False)
    """Where the time of its requests went (recordings.py), of traced trials."""
    attempt: int = 1
    """Counts the attempts of this block and cell: a disturbed trial is repeated."""
    disturbed: str | None = None
    """Other programs that used the trial's CPUs beyond the limit, in words; None if none did."""
    id: int = 0
    counters: Counters = field(default_factory=dict, repr=False)
    printed: dict[str, str] = field(default_factory=dict, repr=False)
    """Output of perf stat for each side that was counted as a whole process."""
    scope: str = WINDOW
    """The cell's, as the next."""
    rounds: int | None = None
    """Number of bursts; None for other loads."""
    superseded: bool = False
    """Repeated, or waiting to be repeated; a later attempt counts instead."""

    @property
    def unstarted(self) -> int:
        """Open loads: requests that were due but not started when the window ended."""
        return int((self.client or {}).get("unstarted", 0))

    @property
    def load_ns(self) -> int | None:
        """From the first start of a request to the last end, by the client; sum over slices."""
        return (self.client or {}).get("elapsed_ns")

    @property
    def start_skew_ns(self) -> int:
        """Between the first and the last client's start; the largest over slices."""
        return int((self.client or {}).get("start_skew_ns", 0))

    @cached_property
    def client_shares(self) -> list[float]:
        """Of the CPU that it could use, by each of several clients; empty if one made the load."""
        return [float(part["cpu_share"]) for part in (self.client or {}).get("clients", ())]

    @cached_property
    def workers(self) -> list[int]:
        """Connections served by each worker of the server; other people's servers tell none."""
        workers = (self.server or {}).get("workers")
        return (
            [int(worker["connections"]) for worker in workers] if isinstance(workers, list) else []
        )

    @property
    def cpu_us_per_request(self) -> float | None:
        """The server's CPU time, by the kernel's own accounting."""
        found = self.counters.get((SERVER, KERNEL, CPU_TIME))
        if found is None or found.value is None or not self.answered:
            return None
        return found.value / 1000 / self.answered

    @cached_property
    def by_event(self) -> dict[tuple[str, str, str], list[Counter]]:
        """Counters by side, origin and bare event; on a hybrid CPU one for each kind of core.

        Cached: a report looks them up half a million times.
        """
        found: dict[tuple[str, str, str], list[Counter]] = {}
        for (side, origin, full), counter in self.counters.items():
            found.setdefault((side, origin, parse_event_name(full).name), []).append(counter)
        return found

    @property
    def held_up(self) -> str | None:
        """Other programs that kept a slow client from its CPUs; None if it was slow by itself."""
        found: str | None = self.conditions.get("client_held_up")
        return found

    @property
    def is_restless(self) -> bool:
        """Whether the server was still busy before or after a window."""
        return any(self.conditions.get(key) for key in ("restless_before", "restless_after"))

    @property
    def is_client_bound(self) -> bool:
        """Whether the client was the bottleneck without being disturbed."""
        return self.status == OK and self.client_bound is not None and self.held_up is None

    @property
    def counts(self) -> bool:
        """True if it says something about the server: it succeeded, and the client kept up."""
        return self.status == OK and self.client_bound is None and not self.superseded


BESIDE_ROW = ("id", "counters", "printed", "scope", "rounds", "superseded")


@dataclass(frozen=True)
class RaceRecord:
    meta: dict[str, str]
    """The study, settings and times of the race."""
    environment: dict[str, Any]
    """The machine and the software that it ran on."""
    inputs: RaceInputs
    cells: list[Cell]
    trials: list[Trial]
    planned: int
    searches: list[SearchRecord]
    """For matched loads; empty if the study has none."""
    sittings: list[Sitting] = field(default_factory=list)
    """In the order in which they started."""

    @property
    def warm_ups(self) -> list[dict[str, Any]]:
        """How the first process of each server became warm; empty if none was watched."""
        found = self.environment.get("warm_ups")
        return found if isinstance(found, list) else []

    @cached_property
    def last_attempts(self) -> list[Trial]:
        """The trials that count: without superseded attempts."""
        return [trial for trial in self.trials if not trial.superseded]

    @cached_property
    def by_cell(self) -> dict[int, list[Trial]]:
        """Last attempts by cell id; cells without trials are missing."""
        found: dict[int, list[Trial]] = {}
        for trial in self.last_attempts:
            found.setdefault(trial.cell_id, []).append(trial)
        return found

    def trials_of(self, cell: Cell) -> list[Trial]:
        """The cell's last attempts, in block order."""
        return self.by_cell.get(cell.id, [])
