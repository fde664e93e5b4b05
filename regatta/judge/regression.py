"""Whether the head of a repository is worse than its base beyond a threshold, in what matters.

Judged are server CPU per request, p50, p99 and the rate that is held (judged.py), under each load.
The base races twice, as `base` and `base-again`. Head is compared, in each block, with the mean of
both; base with itself is the floor. If this machine tells even the two bases apart, a verdict must
hold with that much added to head, or taken off. A race is judged several times while it grows
(judged.py), the held rate once: its searches are over before the race. All that is judged
and all loads are one family.

- regression: the whole 95 % interval of head / base is beyond its threshold, in anything
- no regression: in everything all of it is within
- not comparable: head answers otherwise than base, or than before the race, or one was not warm
- undecided: neither, when the time is over, or the CPUs' busy time contradicts it
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.judge.contrast import of_trials, outward, undisturbed
from regatta.judge.estimates import usable
from regatta.judge.held_rates import held_groups, worse_by
from regatta.judge.interval import Interval
from regatta.judge.judged import (
    CPU,
    EXIT,
    HOLDS,
    JUDGED,
    NO_REGRESSION,
    REGRESSION,
    UNDECIDED,
    Judged,
    Thresholds,
    looks_at,
    outcome_of,
    planned_looks,
    worst_of,
)
from regatta.judge.soundness.barred import failing, unlike, warm_ups
from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS
from regatta.judge.statistics.joint import PairedMean
from regatta.judge.statistics.leads import Accounts, log_ratios, unconfirmed_leads
from regatta.judge.statistics.sign_flips import LEVEL, POWER, BlockValues, Floats
from regatta.record.cell import Cell
from regatta.record.metrics import BUSY, Metric, side_of
from regatta.record.records import OK, RaceRecord, Trial

BothAccounts = tuple[Accounts, Accounts]
"""Of base and of head."""


BASE, AGAIN, HEAD = SIDES = ("base", "base-again", "head")
NOT_COMPARABLE = "not comparable"
EXIT_STATUS = {**EXIT, NOT_COMPARABLE: 2}
FLOOR_LEVEL = 0.01
"""Of calling equal bases different. Stricter than the verdict's: few such races are decided."""
DENIED = "charged CPU time shows a regression, which the CPUs' busy time does not"
HIDDEN = "the CPUs' busy time shows a regression, which charged CPU time does not"
EQUALS_DIFFER = "this machine tells equal servers apart: base from itself"
MOST_NEEDED = 5_000
"""Blocks, beyond which a difference counts as being at the threshold."""
FEWEST_SEARCHES = 3
"""Blocks of the search for held rates."""


@dataclass(frozen=True)
class LoadVerdict:
    """On one of what is judged, under one load."""

    judged: Judged
    cell: Cell
    """The head's."""
    threshold: float
    """As a share: 0.05 for 5 %."""
    blocks: int
    head: Interval
    """How many times as bad as the base it is: of a held rate, base over head."""
    floor: Interval
    """The same of base again."""
    blocks_needed: int | None
    """To decide with a chance of 80 % if the difference is as measured; None: beyond any race."""
    outcome: str = UNDECIDED
    why: str = ""
    """It is undecided, if the intervals do not tell."""

    @property
    def beyond(self) -> float:
        """How many times as bad head may be."""
        return math.exp(self.judged.limit(self.threshold))

    @property
    def least(self) -> float:
        """The lower end of head's interval, less what equals may differ by."""
        return self.head.low / self.allowance

    @property
    def most(self) -> float:
        """The upper end, and that much more."""
        return self.head.high * self.allowance

    @property
    def equals_differ(self) -> bool:
        """Whether this machine tells base from itself."""
        return not self.floor.low <= 1 <= self.floor.high

    @property
    def allowance(self) -> float:
        """How many times one of two equals may take as much as the other, as the floor shows."""
        return max(1 / self.floor.low, self.floor.high) if self.equals_differ else 1.0

    def over_base(self, ratio: Interval) -> Interval:
        """As a person asks for it."""
        return ratio if self.judged.more_is_worse else ratio.inverse


@dataclass(frozen=True)
class RegressionVerdict:
    outcome: str
    thresholds: Thresholds
    why: str
    """The reason, if the intervals do not give it."""
    loads: tuple[LoadVerdict, ...]
    missing: tuple[str, ...] = ()
    """What too few blocks measured, a line each."""

    @property
    def is_final(self) -> bool:
        """Whether more blocks change nothing."""
        return self.outcome != UNDECIDED or bool(self.why)

    @property
    def exit_status(self) -> int:
        return EXIT_STATUS[self.outcome]

    @property
    def blocks(self) -> int:
        return max((load.blocks for load in self.loads if load.judged is not HOLDS), default=0)

    @property
    def by_name(self) -> dict[str, str]:
        """The outcome of each that is judged, over all loads."""
        return {
            name: worst_of([load.outcome for load in self.loads if load.judged.name == name])
            for name in dict.fromkeys(load.judged.name for load in self.loads)
        }


@dataclass(frozen=True)
class Contrast:
    """One of what is judged under one load, in blocks that measured all three."""

    cell: Cell
    blocks: tuple[int, ...]
    head: Floats
    """A logarithm of how many times as bad for each block."""
    floor: Floats
    accounts: BothAccounts = (({}, {}), ({}, {}))
    """Of at least these blocks; empty if they are not known."""
    judged: Judged = CPU

    def first(self, count: int) -> "Contrast":
        """In so many blocks."""
        blocks, head, floor = self.blocks[:count], self.head[:count], self.floor[:count]
        charged, busy = ({at: of[at] for at in blocks if at in of} for of in self.accounts[0])
        # Those of head count only where base has them.
        accounts = (charged, busy), self.accounts[1]
        return replace(self, blocks=blocks, head=head, floor=floor, accounts=accounts)

    @property
    def fewest(self) -> int:
        return FEWEST_SEARCHES if self.judged is HOLDS else FEWEST_BLOCKS

    def looks(self, most_blocks: int, over: bool) -> tuple[list[tuple[int, float]], int]:
        """When it is judged so far, and how often it is in all."""
        count = len(self.blocks)
        if self.judged is HOLDS:
            return [(count, 1.0)] if count >= self.fewest else [], 1
        return looks_at(count, most_blocks, over), len(planned_looks(most_blocks))


def verdict_of(
    ledger: RaceRecord, limits: Thresholds, most_blocks: int, over: bool
) -> RegressionVerdict:
    """`over`: the race gets no more blocks. Until then `undecided` without a reason: go on."""
    if differing := unlike(ledger):
        name = HEAD if HEAD in differing else min(differing)
        return RegressionVerdict(NOT_COMPARABLE, limits, f"{name} {differing[name]}", ())
    if why := broken(ledger):
        return RegressionVerdict(REGRESSION, limits, why, ())
    if over and (why := cold(ledger)):
        return RegressionVerdict(NOT_COMPARABLE, limits, why, ())
    return decided(contrasts(ledger), limits, most_blocks, over)


def decided(
    found: Sequence[Contrast], limits: Thresholds, most_blocks: int, over: bool
) -> RegressionVerdict:
    """Each is decided by the first look that can, or shown as at the last."""
    loads, missing = [], [] if found else [too_few("", FEWEST_BLOCKS, 0)]
    for contrast in found:
        limit = limits[contrast.judged.name]
        load = judge(contrast, limit, most_blocks, over, family=len(found))
        if load is None:
            what = f" on {contrast.judged.name}"
            missing.append(too_few(what, contrast.fewest, len(contrast.blocks)))
        else:
            loads.append(load)
    outcome = worst_of([load.outcome for load in loads] + [UNDECIDED] * bool(missing))
    # Until it is over, later looks may still decide.
    reasons = [load.why for load in loads if load.why] + (missing if not loads else [])
    why = reasons[0] if over and outcome == UNDECIDED and reasons else ""
    return RegressionVerdict(outcome, limits, why, tuple(loads), tuple(missing))


def too_few(what: str, fewest: int, count: int) -> str:
    units = "searches" if fewest == FEWEST_SEARCHES else "blocks"
    return (
        f"a verdict{what} needs {fewest} {units} that measured base and head, and there are "
        f"{count}; in the others a trial failed, or the client was too slow"
    )


def broken(ledger: RaceRecord) -> str:
    """Why head cannot be compared where base can; empty if it can."""
    for cell in ledger.cells:
        if cell.contender == HEAD and (why := failing(ledger.trials_of(cell))):
            others = [rival for rival in rivals(ledger, cell).values() if rival is not cell]
            if not any(failing(ledger.trials_of(rival)) for rival in others):
                return f"head {why}, base did not"
    raced = {cell.contender for cell in ledger.cells}
    if BASE in raced and HEAD not in raced:
        return "head holds no rate that can be compared, base does"
    return ""


def cold(ledger: RaceRecord) -> str:
    """Which server was not warm; empty if all were."""
    for warm_up in warm_ups(ledger.warm_ups, ledger.cells, ledger.by_cell):
        if warm_up.why_not:
            return f"{warm_up.contender} was {warm_up.why_not}; raise --warmup-limit"
    return ""


def rivals(ledger: RaceRecord, cell: Cell) -> dict[str, Cell]:
    """The cells under the same load, by contender."""
    key = cell.comparison_key()
    return {rival.contender: rival for rival in ledger.cells if rival.comparison_key() == key}


def contrasts(ledger: RaceRecord) -> list[Contrast]:
    """One for each that is judged and each load, in the study's order."""
    found = []
    for cell in ledger.cells:
        cells = rivals(ledger, cell)
        if cell.contender == HEAD and set(SIDES) <= cells.keys():
            trials = [ledger.trials_of(cells[name]) for name in SIDES]
            found += [contrast(of, cell, of.metric, trials) for of in JUDGED if of.metric]
    for group in held_groups(ledger):
        members = {held.cell.contender: held for held in group.members}
        if set(SIDES) <= members.keys():
            base, again, head = (members[name].brackets for name in SIDES)
            loss, noise = worse_by([base, again], head), worse_by([base], again)
            blocks = sorted(loss.keys() & noise.keys())
            losses, floor = (np.array([of[block] for block in blocks]) for of in (loss, noise))
            cell = members[HEAD].cell
            found.append(Contrast(cell, tuple(blocks), losses, floor, judged=HOLDS))
    return found


def contrast(judged: Judged, cell: Cell, metric: Metric, trials: Sequence[list[Trial]]) -> Contrast:
    """`trials`: of base, of base again, and of head."""
    by_block = cost_by_block if judged is CPU else latency_by_block
    values = [by_block(of, metric) for of in trials]
    blocks = sorted(set.intersection(*map(set, values)))
    base, again, head = (np.log([of[block] for block in blocks]) for of in values)
    found = Contrast(cell, tuple(blocks), head - (base + again) / 2, again - base, judged=judged)
    if judged is not CPU:
        return found
    busy = [cost_by_block(undisturbed(of), BUSY) for of in trials]
    of_base = mean_of(values[0], values[1]), mean_of(busy[0], busy[1])
    return replace(found, accounts=(of_base, (values[2], busy[2])))


def cost_by_block(trials: list[Trial], metric: Metric) -> BlockValues:
    """Also from trials whose client fell behind: what a request costs the server is known there
    too, and on a busy machine few blocks would be left in which no client did."""
    standing = [trial for trial in trials if trial.status == OK and not trial.superseded]
    found = of_trials(metric, side_of(metric), standing)
    return {} if isinstance(found, str) else found


def latency_by_block(trials: list[Trial], metric: Metric) -> BlockValues:
    """Of each trial for itself; one in which too few requests were started has none."""
    each = (of_trials(metric, side_of(metric), [trial]) for trial in usable(trials))
    return {block: value for of in each if not isinstance(of, str) for block, value in of.items()}


def mean_of(values: BlockValues, others: BlockValues) -> BlockValues:
    """In each block where both are known."""
    return {
        block: (values[block] + others[block]) / 2
        for block in sorted(values.keys() & others.keys())
    }


def judge(
    found: Contrast, threshold: float, most_blocks: int, over: bool, family: int
) -> LoadVerdict | None:
    """By the first look that decides, or the last; None before the first. `family`: how many are
    judged, by which each look's level is divided."""
    load = None
    due, looks = found.looks(most_blocks, over)
    for blocks, of_level in due:
        seen, share = found.first(blocks), of_level / family
        head, floor = PairedMean(seen.head), PairedMean(seen.floor)
        limit = seen.judged.limit(threshold)
        load = LoadVerdict(
            seen.judged,
            seen.cell,
            threshold,
            blocks,
            head=ratio_of(head, LEVEL * share),
            floor=ratio_of(floor, FLOOR_LEVEL * share),
            blocks_needed=blocks_needed(head, limit, LEVEL / looks / family),
        )
        load = load_verdict(load, seen.accounts, LEVEL * share)
        if load.outcome != UNDECIDED:
            break
    return load


def load_verdict(load: LoadVerdict, accounts: BothAccounts, level: float) -> LoadVerdict:
    """With its outcome, or why there is none.

    With steered packets, charged time lacks what the kernel did for a server while its CPU slept: a
    head that moves work there would look cheaper than it is. So busy time may contradict: it denies
    a regression if it shows that head stays below the threshold, or not that it passes it, though
    the two accounts are shown to differ; it shows one if the whole interval of head / base is
    beyond, as what else runs on the CPUs can only bring that ratio nearer to 1.
    """
    outcome = outcome_of(load.least, load.most, load.beyond)
    (charged, busy), head = accounts
    if outcome == REGRESSION:
        # The same time is added to both accounts: the gap between them stays as it is.
        charged, busy = (
            {block: value + load.threshold * charged[block] for block, value in of.items()}
            for of in (charged, busy)
        )
        if unconfirmed_leads({(None, BASE, HEAD): ((charged, busy), head)}):
            return replace(load, why=DENIED)
    if outcome == NO_REGRESSION:
        ratios = PairedMean.of_blocks(log_ratios(head[1], busy))
        if ratios.count and ratios.interval(level).low > math.log1p(load.threshold):
            return replace(load, why=HIDDEN)
    why = EQUALS_DIFFER if outcome == UNDECIDED and load.equals_differ else ""
    return replace(load, outcome=outcome, why=why)


def ratio_of(mean: PairedMean, level: float) -> Interval:
    return mean.interval(level).through(lambda log: outward(log, "ratio"))


def blocks_needed(mean: PairedMean, limit: float, level: float) -> int | None:
    """For a look at this level to tell the mean from the limit with a chance of 80 %."""
    distance, spread = abs(mean.mean - limit), mean.error * math.sqrt(mean.count)
    reach = float(special.ndtri(1 - level / 2) + special.ndtri(POWER))
    if distance * math.sqrt(MOST_NEEDED) <= reach * spread:
        return None
    return max(FEWEST_BLOCKS, math.ceil((reach * spread / distance) ** 2))
