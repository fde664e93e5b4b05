"""The cost of running side by side: trials of a server alone against trials beside the others.

With slices, the servers of a heat run side by side: they share caches, and a scan reads the
processes of all of them. Blocks raced alone have one server at a time and are otherwise the same.
Each is compared with the blocks just before and after it; two that share such a neighbour are not
independent (soundness/clock.py). With several sittings each is one number.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from regatta.judge.contrast import usable_by_block
from regatta.judge.interval import Interval
from regatta.judge.soundness.clock import BlockDifference, CorrelatedMean, linked
from regatta.judge.statistics.joint import holm
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record.metrics import PRIMARY
from regatta.record.records import ALONE, TIMED, RaceRecord, Trial


@dataclass(frozen=True)
class SideBySideCost:
    """One contender, over all of its cells."""

    contender: str
    blocks: int
    """Blocks raced alone that have neighbours."""
    ratio: Interval
    """Server CPU per request alone, divided by that side by side."""
    beside: float
    """`ratio` relative to the mean of all contenders: the part that changes comparisons."""
    differs: bool
    """Whether `beside` differs significantly from 1 (Holm over the contenders)."""


def side_by_side_costs(ledger: RaceRecord, units: Units = BLOCKS) -> list[SideBySideCost]:
    """For each contender that was raced alone."""
    found = {
        name: differences
        for name in dict.fromkeys(cell.contender for cell in ledger.cells)
        if (differences := _by_block(ledger, name, units))
    }
    against_others = {name: linked(_less_the_mean(found, name), units) for name in found}
    decided = holm([one.p_value() for one in against_others.values()])
    return [
        _company(
            name, differences, linked(differences, units), against_others[name], decision.rejected
        )
        for (name, differences), decision in zip(found.items(), decided, strict=True)
    ]


def _by_block(ledger: RaceRecord, name: str, units: Units) -> dict[int, BlockDifference]:
    """For each block raced alone, the logarithm of its cost relative to its neighbours."""
    found: dict[int, list[BlockDifference]] = {}
    for cell in ledger.cells:
        if cell.contender == name:
            trials = ledger.trials_of(cell)
            alone, together = _figures(trials, ALONE), _figures(trials, TIMED)
            for block, value in alone.items():
                near = _neighbours(block, together, units)
                if near:
                    against = fmean(math.log(together[at]) for at in near)
                    weights = dict.fromkeys(near, 1 / len(near))
                    found.setdefault(block, []).append(
                        BlockDifference(math.log(value) - against, weights)
                    )
    return {block: BlockDifference.mean_of(parts) for block, parts in sorted(found.items())}


def _figures(trials: Sequence[Trial], kind: str) -> dict[int, float]:
    """The primary metric by block; alone trials are read like timed ones."""
    of_kind = [replace(trial, kind=TIMED) for trial in trials if trial.kind == kind]
    return {at: value for at, value in usable_by_block(PRIMARY, of_kind).items() if value > 0}


def _neighbours(block: int, together: Iterable[int], units: Units) -> list[int]:
    """The blocks before and after it in its sitting, as far as they exist."""
    sitting = units.sitting_of.get(block)
    same = [at for at in together if units.sitting_of.get(at) == sitting]
    before = max((at for at in same if at < block), default=None)
    after = min((at for at in same if at > block), default=None)
    return [at for at in (before, after) if at is not None]


def _less_the_mean(
    found: Mapping[str, Mapping[int, BlockDifference]], name: str
) -> dict[int, BlockDifference]:
    """Its differences minus the mean of all contenders in the same block."""
    means = {
        block: fmean(other[block].value for other in found.values() if block in other)
        for block in found[name]
    }
    return {
        block: replace(one, value=one.value - means[block]) for block, one in found[name].items()
    }


def _company(
    name: str,
    differences: Mapping[int, BlockDifference],
    alone: CorrelatedMean,
    against_others: CorrelatedMean,
    differs: bool,
) -> SideBySideCost:
    return SideBySideCost(
        contender=name,
        blocks=len(differences),
        ratio=Interval(alone.mean, *alone.interval()).through(math.exp),
        beside=math.exp(against_others.mean),
        differs=differs,
    )
