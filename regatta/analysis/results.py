"""What an analysis comes to, as plain data: all that tables and pictures show."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from regatta.analysis.baseline import Difference
from regatta.analysis.claims.result import ClaimResult
from regatta.analysis.columns import Against
from regatta.analysis.estimates import CLIENT_BOUND, DISTURBED, Estimates, Latencies
from regatta.analysis.grouping import stands_at
from regatta.analysis.held import HeldGroup
from regatta.analysis.perf_table import PerfTable
from regatta.analysis.soundness.clients import ClientsFound
from regatta.analysis.soundness.clock import Ran
from regatta.analysis.soundness.company import Company
from regatta.analysis.soundness.outliers import Outlier
from regatta.analysis.soundness.rate import is_held
from regatta.analysis.soundness.repeated import Repeated
from regatta.analysis.soundness.warmup import WarmUp
from regatta.analysis.standings import TOO_SLOW, Entry, Verdict
from regatta.analysis.statistics.between import Between
from regatta.analysis.statistics.opposed import Opposed
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.slower import Requests
from regatta.analysis.statistics.units import BLOCKS, Units
from regatta.ledger.axes import Axis
from regatta.ledger.cell import Cell
from regatta.ledger.given.calibration import Calibration
from regatta.ledger.given.records import Baseline
from regatta.ledger.metrics import PRIMARY, side_of
from regatta.ledger.records import Sitting, Trial
from regatta.study.names import Names, names_in


@dataclass(frozen=True)
class CellResult:
    cell: Cell
    estimates: Estimates
    latencies: Latencies
    blocks: dict[str, BlockValues]
    """What the columns of the standings rest on: by metric, one number a block."""
    clocked: dict[str, BlockValues]
    """The same of the time and the cycles that a request took of the server's CPU."""
    requests: Requests
    """What its percentiles are of, by block."""
    perf: PerfTable
    workers: list[float]
    """Connections of each worker of a pool, the busiest first; empty without a pool."""
    failed: int
    failing: str
    """In how many, if in too many to win."""
    client_bound: int
    """Trials that are left out of every average because the client set the pace."""
    held_up: int
    """Trials that are in none because others took the CPU of the client, which fell behind."""
    comfortable_rate: int | None
    """Requests a second at which the client would use half its CPU; None: it was no bottleneck."""
    started: float | None
    """Of an open load: the share of what was due that was started; None: no such load."""
    slow: str
    """In how many trials it did not start enough of that, if in too many to win."""
    ok: int

    @property
    def entry(self) -> Entry:
        """As the standings take it."""
        return Entry(self.blocks.get(PRIMARY.name, {}), self._barred())

    def _barred(self) -> str:
        if self.failing:
            return self.failing
        state = self.estimates[side_of(PRIMARY), PRIMARY.name].state
        if state in (CLIENT_BOUND, DISTURBED):
            return state
        return "" if is_held(self.started) and not self.slow else TOO_SLOW


@dataclass(frozen=True)
class Group:
    """Cells that differ only in contender and the quantity of the axis: what is compared."""

    title: str
    """What the cells share, in words; the parts that all groups share are left out."""
    axis: Axis
    steps: list[int]
    """The values of the axis, rising."""
    facts: dict[str, Any]
    cells: list[CellResult]
    by_step: list[Verdict]
    """One for each step."""
    overall: Verdict
    units: Units
    """What is independent: what every interval and verdict rests on."""
    between: Between | None
    """How far sittings differ; None: too few of them, or of blocks in them."""
    differences: list[Difference]
    """To the baseline, if the study names one."""
    against: list[Against]
    """Each contender against the best of each column, at each step."""
    contradictions: list[Opposed] = field(default_factory=list)
    """Pairs that the two accounts of the server's CPU time rank otherwise."""
    inversions: list[Opposed] = field(default_factory=list)
    """Pairs that time and cycles rank otherwise."""

    def at(self, step: int) -> list[CellResult]:
        return [result for result in self.cells if stands_at(self.axis, result.cell, step)]

    def step_cells(self) -> list[tuple[int, CellResult]]:
        """Every step with everybody who stands there."""
        return [(step, result) for step in self.steps for result in self.at(step)]


@dataclass(frozen=True)
class NotedTrial:
    """A trial that a reader should know of, and its cell."""

    cell: Cell
    trial: Trial


@dataclass(frozen=True)
class Analysis:
    meta: dict[str, str]
    environment: dict[str, Any]
    calibration: Calibration | str | None
    """As the race was given it."""
    contenders: list[str]
    """In their order: the same in every table and picture."""
    groups: list[Group]
    failures: list[NotedTrial]
    client_bound: list[NotedTrial]
    disturbed: list[NotedTrial]
    """All whose CPUs others took beyond the limit, also those that were run again."""
    baseline: Baseline | None
    outliers: list[Outlier]
    """Trials far from the others of their cell; they are in every average all the same."""
    warm_ups: list[WarmUp]
    """Whether each contender was warm when the measuring began."""
    trials: int
    planned: int
    trial_kinds: dict[str, int]
    units: Units = BLOCKS
    sittings: list[Sitting] = field(default_factory=list)
    claims: list[ClaimResult] = field(default_factory=list)
    """Of the study, in its order; empty if it has none."""
    held: list[HeldGroup] = field(default_factory=list)
    """What each contender of a matched load holds."""
    restless: list[NotedTrial] = field(default_factory=list)
    """Those that count and whose server was not at rest at an end of a window."""
    repeated: Repeated = field(default_factory=Repeated)
    """What running disturbed trials again did."""
    clocks: list[Ran] = field(default_factory=list)
    """At what clock each contender ran; empty where nothing told it."""
    clients: ClientsFound = field(default_factory=ClientsFound)
    """Those that shared the loads."""
    company: list[Company] = field(default_factory=list)
    """What it costs each to stand beside the others; empty where nobody was raced alone."""

    @cached_property
    def names(self) -> Names:
        """That the study gave."""
        return names_in(self.meta.get("study_toml", ""))

    @property
    def left_out(self) -> dict[str, str]:
        """Designs that could not run where it was raced, and why."""
        found = self.environment.get("left_out")
        return found if isinstance(found, dict) else {}
