"""The results of an analysis as plain data: everything that tables and charts show."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from regatta.judge.anatomy import Anatomy, Spent, TimeSpent
from regatta.judge.claims.result import ClaimResult
from regatta.judge.columns import AgainstBest
from regatta.judge.estimates import CLIENT_BOUND, DISTURBED, Estimates, Latencies
from regatta.judge.grouping import stands_at
from regatta.judge.held_rates import HeldGroup
from regatta.judge.overheads import Difference, PerConnection
from regatta.judge.perf_table import PerfTable
from regatta.judge.soundness.barred import ContenderWarmUp, is_held
from regatta.judge.soundness.clients import LabUse, SharedLoads
from regatta.judge.soundness.repeated import Outlier, Repeated
from regatta.judge.soundness.side_by_side import ClockSpeed, SideBySideCost
from regatta.judge.soundness.wire import OnTheWire
from regatta.judge.standings import TOO_SLOW, Verdict
from regatta.judge.statistics.percentile_comparison import Requests
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import BLOCKS, Between, Units
from regatta.record.cell import Axis, Cell
from regatta.record.inputs import Baseline, Calibration
from regatta.record.metrics import PRIMARY, side_of
from regatta.record.records import Sitting, Trial
from regatta.record.study.find import Names, names_in


@dataclass(frozen=True)
class CellResult:
    cell: Cell
    estimates: Estimates
    latencies: Latencies
    blocks: dict[str, BlockValues]
    """One number a block by metric: the data of the columns of the standings."""
    busy: BlockValues
    """Busy time per request, of undisturbed trials."""
    memory: dict[str, BlockValues]
    """The same for what it has in memory, of a race with `whole_cost`."""
    stacks: Spent
    """What its CPUs did, of sampled trials; empty without."""
    busy_sampled: BlockValues
    """Busy time per request in sampled trials."""
    time_spent: TimeSpent | None
    """Where its requests' time goes, of traced trials; None without."""
    requests: Requests
    """Latencies by block."""
    perf: PerfTable
    workers: list[float]
    """Connections of each worker of a pool, the busiest first; empty without a pool."""
    failed: int
    failing: str
    """`failed in 4 of 10 trials`, if too many to win, or what is wrong with its answers, or that it
    was not warm; else empty."""
    client_bound: int
    """Client-bound trials, excluded from every average."""
    held_up: int
    """Trials excluded because other programs took CPU from the client, which fell behind."""
    comfortable_rate: int | None
    """Requests a second at which the client would use half its CPU; None: it kept up."""
    started: float | None
    """The share of due requests that an open load started; None for other loads."""
    slow: str
    """`in 3 of 10 trials` it missed the rate, if too many to win; else empty."""
    ok: int

    @property
    def cpu(self) -> BlockValues:
        """Server CPU per request."""
        return self.blocks.get(PRIMARY.name, {})

    @property
    def barred(self) -> str:
        """Why it cannot win; empty if it can."""
        if self.failing:
            return self.failing
        state = self.estimates[side_of(PRIMARY), PRIMARY.name].state
        if state in (CLIENT_BOUND, DISTURBED):
            return state
        return "" if is_held(self.started) and not self.slow else TOO_SLOW


@dataclass(frozen=True)
class UnconfirmedLead:
    """At one step, of the contender with less charged time over the other."""

    at: int
    less: str
    more: str
    charged: float
    """Ratio of `more` to `less`: above 1."""
    busy: float


@dataclass(frozen=True)
class Group:
    """Cells that are compared: they differ only in contender and the quantity of the axis."""

    title: str
    """What the cells share, without what all groups share."""
    axis: Axis
    steps: list[int]
    """The values of the axis, ascending."""
    facts: dict[str, Any]
    cells: list[CellResult]
    by_step: list[Verdict]
    """One for each step."""
    overall: Verdict
    units: Units
    """The independent units of every interval and verdict."""
    between: Between | None
    """How far sittings differ; None with too few sittings, or too few blocks in them."""
    differences: list[Difference]
    """To the baseline, if the study names one."""
    against: list[AgainstBest]
    """Each contender against the best of each column, at each step."""
    unconfirmed: list[UnconfirmedLead] = field(default_factory=list)
    """Leads of the best by charged time that busy time does not show."""
    anatomy: Anatomy | None = None
    """Of the last step, if it has sampled trials."""

    @property
    def time_spent(self) -> dict[str, TimeSpent]:
        """By contender, at the last step, of those with traced trials."""
        last = self.at(self.steps[-1])
        return {result.cell.contender: result.time_spent for result in last if result.time_spent}

    @property
    def stacks(self) -> dict[str, Spent]:
        """By contender, of those with sampled trials."""
        last = self.at(self.steps[-1])
        return {result.cell.contender: result.stacks for result in last if result.stacks}

    def at(self, step: int) -> list[CellResult]:
        return [result for result in self.cells if stands_at(self.axis, result.cell, step)]

    def step_cells(self) -> list[tuple[int, CellResult]]:
        """Every pair of a step and a cell at that step."""
        return [(step, result) for step in self.steps for result in self.at(step)]


@dataclass(frozen=True)
class NotedTrial:
    """A trial that a report lists, and its cell."""

    cell: Cell
    trial: Trial


@dataclass(frozen=True)
class Analysis:
    meta: dict[str, str]
    environment: dict[str, Any]
    calibration: Calibration | str | None
    """The calibration when the race began, what is wrong with its file, or None."""
    contenders: list[str]
    """In the order of every table and chart."""
    groups: list[Group]
    failures: list[NotedTrial]
    client_bound: list[NotedTrial]
    disturbed: list[NotedTrial]
    """All disturbed trials, including repeated ones."""
    baseline: Baseline | None
    outliers: list[Outlier]
    """Trials far from the others of their cell; they are kept in every average."""
    warm_ups: list[ContenderWarmUp]
    """Whether each contender was warm when the window opened."""
    trials: int
    planned: int
    trial_kinds: dict[str, int]
    units: Units = BLOCKS
    sittings: list[Sitting] = field(default_factory=list)
    claims: list[ClaimResult] = field(default_factory=list)
    """Of the study, in its order; empty if it has none."""
    held: list[HeldGroup] = field(default_factory=list)
    """The held rates of matched loads."""
    restless: list[NotedTrial] = field(default_factory=list)
    """Trials that count although the server was busy when the window opened or closed."""
    repeated: Repeated = field(default_factory=Repeated)
    """The effect of repeating disturbed trials."""
    clocks: list[ClockSpeed] = field(default_factory=list)
    """The clock speed of each contender; empty without a canary."""
    shared_loads: SharedLoads | None = None
    """None if one client made every load."""
    memory_per_connection: list[PerConnection] = field(default_factory=list)
    """Of a race with `whole_cost` that varies its idle connections."""
    lab_use: LabUse | None = None
    """What the lab itself used; None if no trial recorded it."""
    unlike: dict[str, str] = field(default_factory=dict)
    """Contenders whose answers are not to be believed, and why."""
    wire: list[OnTheWire] = field(default_factory=list)
    """Waits of the length of TCP's timers."""
    side_by_side: list[SideBySideCost] = field(default_factory=list)
    """The cost of running side by side; empty if none was raced alone."""

    @cached_property
    def names(self) -> Names:
        """Titles and twins named by the study."""
        return names_in(self.meta.get("study_toml", ""))

    @property
    def left_out(self) -> dict[str, str]:
        """Designs that could not run on this machine, and why."""
        found = self.environment.get("left_out")
        return found if isinstance(found, dict) else {}


def rate_words(result: CellResult) -> str:
    """How an open-load cell missed its offered rate; empty if it held the rate."""
    if result.started is None or is_held(result.started):
        return f"does not hold the rate {result.slow}" if result.slow else ""
    # Rounded down: 98.98 % is not 99 %.
    shown = math.floor(result.started * 1000) / 10
    return f"does not hold the rate: started {shown:.{1 if shown > 90 else 0}f} % of due requests"
