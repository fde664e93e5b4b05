"""Whether the head of a repository costs more CPU per request than its base, beyond a threshold.

The base races twice, as `base` and `base-again`. Head is compared, in each block, with the mean of
both; base with itself is the floor. If this machine tells even the two bases apart, a verdict must
hold with that much added to head, or taken off. A race is judged several times while it grows
(statistics/looks.py).

- regression: the whole 95 % interval of head / base is above 1 + threshold, under any load
- no regression: under every load all of it is at or below 1 + threshold
- not comparable: head answers otherwise than base, or than before the race
- undecided: neither, when the time is over, or the CPUs' busy time contradicts it (busy_time.py)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.analysis.contrast import of_trials, undisturbed
from regatta.analysis.soundness.answers import unlike
from regatta.analysis.soundness.failing import failing
from regatta.analysis.statistics.blocks_needed import FEWEST_BLOCKS
from regatta.analysis.statistics.level import LEVEL
from regatta.analysis.statistics.looks import Look, looks_at, planned_looks
from regatta.analysis.statistics.paired_mean import PairedMean
from regatta.analysis.statistics.sign_flips import POWER, BlockValues, Floats
from regatta.ledger.cell import Cell
from regatta.ledger.metrics import BUSY, PRIMARY, Metric, side_of
from regatta.ledger.records import RaceRecord, Trial
from regatta.ledger.result import OK
from regatta.versus.busy_time import Accounts, denies_regression, in_blocks, shows_regression

BASE, AGAIN, HEAD = SIDES = ("base", "base-again", "head")
REGRESSION, NO_REGRESSION, UNDECIDED = "regression", "no regression", "undecided"
NOT_COMPARABLE = "not comparable"
EXIT_STATUS = {NO_REGRESSION: 0, REGRESSION: 1, NOT_COMPARABLE: 2, UNDECIDED: 3}
FLOOR_LEVEL = 0.01
"""Of calling equal bases different. Stricter than the verdict's: few such races are decided."""
DENIED = "charged CPU time shows a regression, which the CPUs' busy time does not"
HIDDEN = "the CPUs' busy time shows a regression, which charged CPU time does not"
EQUALS_DIFFER = "this machine tells equal servers apart: base from itself"
MOST_NEEDED = 5_000
"""Blocks, beyond which a difference counts as being at the threshold."""


@dataclass(frozen=True)
class Ratio:
    """With the interval of the look at which it was judged."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LoadVerdict:
    """Under one load."""

    cell: Cell
    """The head's."""
    head: Ratio
    """Its CPU per request over that of the base."""
    floor: Ratio
    """Base again over base."""
    blocks_needed: int | None
    """To decide with a chance of 80 % if the difference is as measured; None: beyond any race."""
    outcome: str = UNDECIDED
    why: str = ""
    """It is undecided, if the intervals do not tell."""

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


@dataclass(frozen=True)
class Verdict:
    outcome: str
    threshold: float
    """As a share: 0.05 for 5 %."""
    why: str
    """The reason, if the intervals do not give it."""
    blocks: int
    loads: tuple[LoadVerdict, ...]

    @property
    def is_final(self) -> bool:
        """Whether more blocks change nothing."""
        return self.outcome != UNDECIDED or bool(self.why)

    @property
    def exit_status(self) -> int:
        return EXIT_STATUS[self.outcome]


@dataclass(frozen=True)
class Contrast:
    """One load, in blocks that measured all three."""

    cell: Cell
    blocks: tuple[int, ...]
    head: Floats
    """A logarithm of a ratio for each block."""
    floor: Floats
    accounts: Accounts = (({}, {}), ({}, {}))
    """Empty if they are not known."""

    def first(self, count: int) -> "Contrast":
        blocks = self.blocks[:count]
        return Contrast(
            self.cell,
            blocks,
            self.head[:count],
            self.floor[:count],
            in_blocks(self.accounts, set(blocks)),
        )


def verdict_of(ledger: RaceRecord, threshold: float, most_blocks: int, over: bool) -> Verdict:
    """`over`: the race gets no more blocks. Until then `undecided` without a reason: go on."""
    if differing := unlike(ledger):
        name = HEAD if HEAD in differing else min(differing)
        return Verdict(NOT_COMPARABLE, threshold, f"{name} {differing[name]}", 0, ())
    if why := broken(ledger):
        return Verdict(REGRESSION, threshold, why, 0, ())
    return decided(contrasts(ledger), threshold, most_blocks, over)


def decided(found: Sequence[Contrast], threshold: float, most_blocks: int, over: bool) -> Verdict:
    """The verdict of the first look that has one, or of the last."""
    blocks = min((len(one.blocks) for one in found), default=0)
    verdict = Verdict(UNDECIDED, threshold, too_few(blocks) if over else "", blocks, ())
    looks = len(planned_looks(most_blocks))
    for look in looks_at(blocks, most_blocks, over):
        verdict = judged([one.first(look.blocks) for one in found], look, threshold, looks)
        if verdict.is_final:
            return verdict
    # Until it is over, later looks may still decide.
    why = next((one.why for one in verdict.loads if one.why), "") if over else ""
    return replace(verdict, why=verdict.why or why)


def too_few(blocks: int) -> str:
    if blocks >= FEWEST_BLOCKS:
        return ""
    return (
        f"a verdict needs {FEWEST_BLOCKS} blocks that measured base and head, and there are "
        f"{blocks}; in the others a trial failed"
    )


def broken(ledger: RaceRecord) -> str:
    """Why head cannot be compared where base can; empty if it can."""
    for cell in ledger.cells:
        if cell.contender == HEAD and (why := failing(ledger.trials_of(cell))):
            others = [one for one in rivals(ledger, cell).values() if one is not cell]
            if not any(failing(ledger.trials_of(one)) for one in others):
                return f"head {why}, base did not"
    held = {cell.contender for cell in ledger.cells}
    if BASE in held and HEAD not in held:
        return "head holds no rate that can be compared, base does"
    return ""


def rivals(ledger: RaceRecord, cell: Cell) -> dict[str, Cell]:
    """The cells under the same load, by contender."""
    key = cell.comparison_key()
    return {one.contender: one for one in ledger.cells if one.comparison_key() == key}


def contrasts(ledger: RaceRecord) -> list[Contrast]:
    """One for each load, in the study's order."""
    found = []
    for cell in ledger.cells:
        cells = rivals(ledger, cell)
        if cell.contender == HEAD and set(SIDES) <= cells.keys():
            trials = {name: ledger.trials_of(cells[name]) for name in SIDES}
            charged = {name: cost_by_block(of, PRIMARY) for name, of in trials.items()}
            busy = {name: cost_by_block(undisturbed(of), BUSY) for name, of in trials.items()}
            found.append(contrast(cell, charged, busy))
    return found


def cost_by_block(trials: list[Trial], metric: Metric) -> BlockValues:
    """Also from trials whose client fell behind: what a request costs the server is known there
    too, and on a busy machine few blocks would be left in which no client did."""
    standing = [trial for trial in trials if trial.status == OK and not trial.superseded]
    found = of_trials(metric, side_of(metric), standing)
    return {} if isinstance(found, str) else found


def contrast(
    cell: Cell, charged: Mapping[str, BlockValues], busy: Mapping[str, BlockValues]
) -> Contrast:
    blocks = sorted(set.intersection(*(set(one) for one in charged.values())))
    base, again, head = (np.log([charged[name][block] for block in blocks]) for name in SIDES)
    of_base, of_head = (
        (mean_of([charged[name] for name in names]), mean_of([busy[name] for name in names]))
        for names in ((BASE, AGAIN), (HEAD,))
    )
    accounts = in_blocks((of_base, of_head), set(blocks))
    return Contrast(cell, tuple(blocks), head - (base + again) / 2, again - base, accounts)


def mean_of(values: Sequence[BlockValues]) -> BlockValues:
    """In each block where all are known."""
    known = sorted(set.intersection(*(set(one) for one in values)))
    return {block: sum(one[block] for one in values) / len(values) for block in known}


def judged(found: Sequence[Contrast], look: Look, threshold: float, looks: int) -> Verdict:
    """At one look. All loads are one family, so a look's level is divided by their number."""
    share = look.share / len(found)
    limit = math.log1p(threshold)
    loads = []
    for one in found:
        head, floor = PairedMean(one.head), PairedMean(one.floor)
        needed = blocks_needed(head, limit, LEVEL / looks / len(found))
        ratios = ratio_of(head, LEVEL * share), ratio_of(floor, FLOOR_LEVEL * share)
        load = LoadVerdict(one.cell, *ratios, needed)
        loads.append(load_verdict(load, one.accounts, threshold, LEVEL * share))
    outcomes = {one.outcome for one in loads}
    outcome = UNDECIDED if UNDECIDED in outcomes else NO_REGRESSION
    outcome = REGRESSION if REGRESSION in outcomes else outcome
    return Verdict(outcome, threshold, "", look.blocks, tuple(loads))


def load_verdict(
    load: LoadVerdict, accounts: Accounts, threshold: float, level: float
) -> LoadVerdict:
    """With its outcome, or why there is none."""
    if load.least > 1 + threshold:
        if denies_regression(accounts, threshold):
            return replace(load, why=DENIED)
        return replace(load, outcome=REGRESSION)
    if load.most <= 1 + threshold:
        if shows_regression(accounts, threshold, level):
            return replace(load, why=HIDDEN)
        return replace(load, outcome=NO_REGRESSION)
    return replace(load, why=EQUALS_DIFFER if load.equals_differ else "")


def ratio_of(mean: PairedMean, level: float) -> Ratio:
    low, high = mean.interval(level) or (-math.inf, math.inf)
    return Ratio(*(math.exp(value) for value in (mean.mean, low, high)))


def blocks_needed(mean: PairedMean, limit: float, level: float) -> int | None:
    """For a look at this level to tell the mean from the limit with a chance of 80 %."""
    distance, spread = abs(mean.mean - limit), mean.error * math.sqrt(mean.count)
    reach = float(special.ndtri(1 - level / 2) + special.ndtri(POWER))
    if distance * math.sqrt(MOST_NEEDED) <= reach * spread:
        return None
    return max(FEWEST_BLOCKS, math.ceil((reach * spread / distance) ** 2))
