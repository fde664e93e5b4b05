"""What company does: a trial that stood alone beside those of the same cell that had neighbours.

With slices the servers of a heat stand side by side: they share caches, and a scan reads the
processes of all. In the blocks raced alone nobody else is up, and all else is the same. Each is
held against the blocks just before and after it, which met the same machine.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from regatta.analysis.contrast import of_trials
from regatta.analysis.estimates import told
from regatta.analysis.holm import holm
from regatta.analysis.metrics import PRIMARY, side_of
from regatta.analysis.swaps import Swapped
from regatta.ledger_read import Ledger, Trial
from regatta.plan import ALONE, TIMED


@dataclass(frozen=True)
class Company:
    """One contender, over all of its cells."""

    contender: str
    blocks: int
    """That were raced alone and have neighbours."""
    ratio: float
    """Its server CPU per request alone by that in company."""
    low: float
    high: float
    beside: float
    """The same by the mean of all contenders: what of it moves a ratio between two of them."""
    differs: bool
    """The latter, beyond the noise (Holm over the contenders)."""


def in_company(ledger: Ledger) -> list[Company]:
    """Of each contender that was raced alone; empty where none was."""
    found = {
        name: own
        for name in dict.fromkeys(cell.contender for cell in ledger.cells)
        if (own := _by_block(ledger, name))
    }
    beside = {name: _beside(found, name) for name in found}
    decided = holm([one.p_value() for one in beside.values()])
    return [
        _company(name, Swapped(np.array(list(own.values()))), beside[name], decision.rejected)
        for (name, own), decision in zip(found.items(), decided, strict=True)
    ]


def _by_block(ledger: Ledger, name: str) -> dict[int, float]:
    """For each block raced alone the logarithm of what it took by what its neighbours took."""
    found: dict[int, list[float]] = {}
    for cell in ledger.cells:
        if cell.contender == name:
            trials = ledger.trials_of(cell)
            alone, beside = _figures(trials, ALONE), _figures(trials, TIMED)
            for block, value in alone.items():
                near = _neighbours(block, beside)
                if near:
                    found.setdefault(block, []).append(math.log(value) - fmean(near))
    return {block: fmean(parts) for block, parts in sorted(found.items())}


def _figures(trials: Sequence[Trial], kind: str) -> dict[int, float]:
    """By block; those raced alone are taken as timed ones are."""
    own = [replace(trial, kind=TIMED) for trial in trials if trial.kind == kind]
    side = side_of(PRIMARY)
    found = of_trials(PRIMARY, side, told(PRIMARY, side, own))
    return {} if isinstance(found, str) else {at: value for at, value in found.items() if value > 0}


def _neighbours(block: int, beside: Mapping[int, float]) -> list[float]:
    """The logarithms of the block before and of the one after it, as far as there are such."""
    before = max((at for at in beside if at < block), default=None)
    after = min((at for at in beside if at > block), default=None)
    return [math.log(beside[at]) for at in (before, after) if at is not None]


def _beside(found: Mapping[str, Mapping[int, float]], name: str) -> Swapped:
    """Its own less the mean of all that were raced in the same block."""
    return Swapped(
        np.array(
            [
                value - fmean(own[block] for own in found.values() if block in own)
                for block, value in found[name].items()
            ]
        )
    )


def _company(name: str, one: Swapped, beside: Swapped, differs: bool) -> Company:
    low, high = one.interval() or (one.mean, one.mean)
    return Company(
        contender=name,
        blocks=one.count,
        ratio=math.exp(one.mean),
        low=math.exp(low),
        high=math.exp(high),
        beside=math.exp(beside.mean),
        differs=differs,
    )
