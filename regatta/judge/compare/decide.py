"""Decides for each common cell and metric: regression, no regression, or undecided.

A regression is a change for the worse that exceeds the threshold also after Holm's correction over
all comparisons: if nothing changed, at most 5 of 100 calls raise a false alarm, however many cells
there are. "No regression" needs no correction: the exit status requires it in every cell, so it is
wrong no more often than in the least certain cell.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from regatta.errors import UsageError
from regatta.judge.contrast import by_block
from regatta.judge.estimates import OVER, Estimate
from regatta.judge.statistics.joint import Decision, holm
from regatta.judge.statistics.units import units_of
from regatta.judge.unpaired import Change, Sample, unpaired
from regatta.record.cell import Cell
from regatta.record.metrics import Metric, side_of
from regatta.record.records import RaceRecord

REGRESSION = "regression"
NO_REGRESSION = "no regression"
UNDECIDED = "undecided"
NOT_MEASURED = "not measured"
EXIT = {NO_REGRESSION: 0, REGRESSION: 1, UNDECIDED: 3}


def worst_of(outcomes: Collection[str]) -> str:
    """Of several verdicts: a regression in one is one in all, and all must be without."""
    return next((one for one in (REGRESSION, UNDECIDED) if one in outcomes), NO_REGRESSION)


@dataclass(frozen=True)
class CellComparison:
    """One cell of both races in one metric."""

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
    """`ratio` (new / old) or `difference` (new - old, of a metric that can be 0)."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    """The 95 % interval."""
    beyond: float | None = None
    """The threshold on the same scale: a worse value is a regression."""
    p_value: float | None = None
    """For a true change at the threshold, after Holm's correction."""
    blocks_needed: int | None = None
    """Blocks per race to confirm "no change" at 80 % power; sittings if either race has several."""


@dataclass(frozen=True)
class CellPair:
    """A cell in both races, in one metric."""

    cell: Cell
    metric: Metric
    old: Estimate
    new: Estimate
    samples: tuple[Sample, Sample] | str
    """Of both races, or why they are missing."""
    broken: str | None
    """Why every trial of the new race failed, if some of the old race succeeded."""


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
    found: dict[int, Sample | str] = {}
    for cell_id, values in blocks.items():
        if isinstance(values, str):
            found[cell_id] = values
        else:
            ordered = [value for _, value in sorted(units.gathered(values).items())]
            # Only blocks of one sitting are correlated.
            found[cell_id] = Sample(np.array(ordered), not units.sitting_of)
    return found


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
    changes = [_change(pair) for pair in pairs]
    beyond = [
        None if change is None else regression_limit(pair.metric, change, pair.samples, threshold)
        for pair, change in zip(pairs, changes, strict=True)
    ]
    known = [index for index, change in enumerate(changes) if change is not None]
    p_values = [_p_value(changes[index], beyond[index]) for index in known]
    decisions = dict(zip(known, holm(p_values), strict=True))
    return [
        _compared(pair, changes[index], beyond[index], decisions.get(index), threshold)
        for index, pair in enumerate(pairs)
    ]


def regression_limit(
    metric: Metric, change: Change, both: tuple[Sample, Sample] | str, threshold: float
) -> float:
    """The value beyond which a change is a regression, on the scale of the change."""
    worse = 1 if metric.better == "lower" else -1
    if change.scale == "ratio":
        return float((1 + threshold) ** worse)
    assert not isinstance(both, str), "a change has samples"
    return worse * threshold * abs(float(both[0].values.mean()))


def _p_value(change: Change | None, beyond: float | None) -> float:
    assert change is not None
    assert beyond is not None
    return change.p_value(beyond)


def _change(pair: CellPair) -> Change | None:
    return None if isinstance(pair.samples, str) else unpaired(*pair.samples)


def _compared(
    pair: CellPair,
    change: Change | None,
    beyond: float | None,
    decision: Decision | None,
    threshold: float,
) -> CellComparison:
    if change is None or beyond is None or decision is None:
        verdict, why = _without(pair)
        side = side_of(pair.metric)
        return CellComparison(pair.cell, pair.metric, side, pair.old, pair.new, verdict, why)
    low, high = change.interval()
    verdict, why = _verdict(pair.metric, change, beyond, decision)
    return CellComparison(
        cell=pair.cell,
        metric=pair.metric,
        side=side_of(pair.metric),
        old=pair.old,
        new=pair.new,
        scale=change.scale,
        value=change.value,
        low=low,
        high=high,
        beyond=beyond,
        p_value=decision.adjusted_p,
        verdict=verdict,
        why=why,
        blocks_needed=change.blocks_for(beyond) if threshold and beyond else None,
    )


def _verdict(metric: Metric, change: Change, beyond: float, decision: Decision) -> tuple[str, str]:
    low, high = change.interval()
    if metric.better == "higher":
        is_fine, is_worse, value_worse = low > beyond, high < beyond, change.value < beyond
    else:
        is_fine, is_worse, value_worse = high < beyond, low > beyond, change.value > beyond
    if decision.rejected and value_worse:
        return REGRESSION, ""
    if is_fine:
        return NO_REGRESSION, ""
    if is_worse:
        return (
            UNDECIDED,
            "beyond the threshold, but not after correction for multiple comparisons",
        )
    return UNDECIDED, ""


def _state(words: str) -> str:
    return f"{OVER}: some due requests did not start" if words == OVER else words


def _without(pair: CellPair) -> tuple[str, str]:
    """The verdict without an interval."""
    if pair.broken is not None:
        return REGRESSION, f"every trial failed in NEW: {pair.broken}"
    if pair.old.value is None:
        return NOT_MEASURED, f"in OLD: {_state(pair.old.state)}"
    if pair.new.value is None:
        return UNDECIDED, f"in NEW: {_state(pair.new.state)}"
    if isinstance(pair.samples, str):
        return UNDECIDED, _state(pair.samples)
    return UNDECIDED, "fewer than two trials in one of the races"
