"""Decides for each common cell and metric: regression, no regression, or undecided.

A regression is a change for the worse that exceeds the threshold also after Holm's correction over
all comparisons: if nothing changed, at most 5 of 100 calls raise a false alarm, however many cells
there are. "No regression" needs no correction: the exit status requires it in every cell, so it is
wrong no more often than in the least certain cell.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from regatta.errors import UsageError
from regatta.judge.contrast import by_block
from regatta.judge.estimates import OVER, Estimate
from regatta.judge.interval import OpenInterval
from regatta.judge.judged import REGRESSION, UNDECIDED, outcome_of
from regatta.judge.statistics.joint import Decision, holm
from regatta.judge.statistics.units import units_of
from regatta.judge.unpaired import Change, Sample, unpaired
from regatta.record.cell import Cell
from regatta.record.metrics import Metric, side_of
from regatta.record.records import RaceRecord

NOT_MEASURED = "not measured"
UNCORRECTED = "beyond the threshold, but not after correction for multiple comparisons"


@dataclass(frozen=True)
class CellPair:
    """A cell in both races, in one metric."""

    cell: Cell
    """That of the new race."""
    metric: Metric
    old: Estimate
    new: Estimate
    samples: tuple[Sample, Sample] | str
    """Of both races, or why they are missing."""
    broken: str | None
    """Why every trial of the new race failed, if some of the old race succeeded."""

    @cached_property
    def change(self) -> Change | None:
        return None if isinstance(self.samples, str) else unpaired(*self.samples)

    def beyond(self, threshold: float) -> float:
        """The value beyond which a change is a regression, on the scale of the change."""
        assert self.change is not None
        assert not isinstance(self.samples, str), "a change has samples"
        worse = 1 if self.metric.better == "lower" else -1
        if self.change.scale == "ratio":
            return float((1 + threshold) ** worse)
        return worse * threshold * abs(float(self.samples[0].values.mean()))

    def undecided(self) -> "CellComparison":
        """As it is without a change."""
        verdict, why = self._without_change()
        return CellComparison(
            cell=self.cell,
            metric=self.metric,
            side=side_of(self.metric),
            old=self.old,
            new=self.new,
            verdict=verdict,
            why=why,
        )

    def _without_change(self) -> tuple[str, str]:
        """The verdict, and why."""
        if self.broken is not None:
            return REGRESSION, f"every trial failed in NEW: {self.broken}"
        if self.old.value is None:
            return NOT_MEASURED, f"in OLD: {state_words(self.old.state)}"
        if self.new.value is None:
            return UNDECIDED, f"in NEW: {state_words(self.new.state)}"
        if isinstance(self.samples, str):
            return UNDECIDED, self.samples
        return UNDECIDED, "fewer than two trials in one of the races"


def state_words(words: str) -> str:
    return f"{OVER}: some due requests did not start" if words == OVER else words


@dataclass(frozen=True, kw_only=True)
class CellComparison(OpenInterval):
    """One cell of both races in one metric: new / old, or new - old of a metric that can be 0, with
    its 95 % interval."""

    cell: Cell
    """The cell of the new race."""
    metric: Metric
    side: str
    old: Estimate
    new: Estimate
    verdict: str
    why: str
    """The reason, if the verdict needs one."""
    scale: str | None = None
    """`ratio` or `difference`."""
    beyond: float | None = None
    """The threshold on the same scale: a worse value is a regression."""
    p_value: float | None = None
    """For a true change at the threshold, after Holm's correction."""
    blocks_needed: int | None = None
    """Blocks per race to confirm "no change" at 80 % power; sittings if either race has several."""


Blocks = dict[int, float] | str
"""The value of a cell in each block, or why there is none."""


def samples(metric: Metric, ledger: RaceRecord, reference: str | None) -> dict[int, Sample | str]:
    """The sample of each cell, by cell id: one value a block, or a sitting if there are several.

    With a reference, each value is divided by the reference's in the same block, which cancels what
    the machine did to both: most of its drift.
    """
    side = side_of(metric)
    blocks: dict[int, Blocks] = {
        cell.id: by_block(metric, side, ledger.trials_of(cell)) for cell in ledger.cells
    }
    if reference is not None:
        blocks = _relative(ledger.cells, blocks, reference)
    units = units_of(ledger)

    def sample(values: dict[int, float]) -> Sample:
        ordered = [value for _, value in sorted(units.gathered(values).items())]
        # Only blocks of one sitting are correlated.
        return Sample(np.array(ordered), not units.sitting_of)

    return {
        cell_id: values if isinstance(values, str) else sample(values)
        for cell_id, values in blocks.items()
    }


def _relative(cells: list[Cell], blocks: dict[int, Blocks], reference: str) -> dict[int, Blocks]:
    known = [cell for cell in cells if cell.contender == reference]
    found: dict[int, Blocks] = {}
    for cell in cells:
        if cell.contender != reference:
            one = reference_of(cell, known)
            theirs = f"no {reference} under the same load" if one is None else blocks[one.id]
            found[cell.id] = _divided(blocks[cell.id], theirs)
    return found


def reference_of(cell: Cell, references: list[Cell]) -> Cell | None:
    """The cell of the reference under the same load; for pools the one of the same size."""
    comparable = [one for one in references if one.comparison_key() == cell.comparison_key()]
    found = [one for one in comparable if one.workers == cell.workers] or comparable
    if len(found) > 1:
        raise UsageError(
            f"--reference is {found[0].contender}, which raced with several pool sizes or paths "
            f"under the load of {cell.label()}; name a design that raced with one"
        )
    return found[0] if found else None


def _divided(ours: Blocks, theirs: Blocks) -> Blocks:
    if isinstance(ours, str):
        return ours
    if isinstance(theirs, str):
        return theirs
    common = ours.keys() & theirs.keys()
    if not common or min(min(ours[block], theirs[block]) for block in common) <= 0:
        return "not above 0 in every block, so it has no ratio to the reference"
    return {block: ours[block] / theirs[block] for block in common}


def decide(pairs: list[CellPair], threshold: float) -> list[CellComparison]:
    """One result for each pair, in order. `threshold` is a fraction: 0.05 for 5 %."""
    p_values = [
        pair.change.p_value(pair.beyond(threshold)) for pair in pairs if pair.change is not None
    ]
    decisions = iter(holm(p_values))
    return [
        pair.undecided()
        if pair.change is None
        else _compared(pair, pair.change, threshold, next(decisions))
        for pair in pairs
    ]


def _compared(
    pair: CellPair, change: Change, threshold: float, decision: Decision
) -> CellComparison:
    beyond, (low, high) = pair.beyond(threshold), change.interval()
    worse = 1 if pair.metric.better == "lower" else -1
    least, most = (low, high) if worse > 0 else (-high, -low)
    outcome = outcome_of(least, most, worse * beyond)
    is_uncorrected = outcome == REGRESSION and not decision.rejected
    return replace(
        pair.undecided(),
        verdict=UNDECIDED if is_uncorrected else outcome,
        why=UNCORRECTED if is_uncorrected else "",
        scale=change.scale,
        value=change.value,
        low=low,
        high=high,
        beyond=beyond,
        p_value=decision.adjusted_p,
        blocks_needed=change.blocks_for(beyond) if threshold and beyond else None,
    )
