"""The share of a design's cost that is due to its strategy, from its bare twin at the same step.

A twin (bench/twins) is the smallest correct server of the same strategy. Its cost per request is
the strategy's; the rest of the design's cost is the design's own.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from regatta.judge.interval import Interval
from regatta.judge.results import CellResult, Group
from regatta.judge.statistics.joint import PairedMean
from regatta.judge.statistics.leads import log_ratios
from regatta.judge.statistics.percentile_comparison import FEWEST_BLOCKS
from regatta.judge.statistics.units import Units
from regatta.record.metrics import PRIMARY, side_of


@dataclass(frozen=True)
class TwinShare:
    """Server CPU per request."""

    at: int
    """The step of the axis."""
    design: str
    twin: str
    us: float
    twin_us: float
    ratio: Interval
    """The design's divided by the twin's, paired within blocks."""
    blocks: int


def twin_shares(group: Group, twins: Mapping[str, str]) -> list[TwinShare]:
    """At every step, each design that was raced with its twin; `twins`: design by twin."""
    return [
        share
        for step in group.steps
        for twin in group.at(step)
        for design in group.at(step)
        if twins.get(twin.cell.contender) == design.cell.contender
        for share in [_share(step, design, twin, group.units)]
        if share is not None
    ]


def _share(step: int, design: CellResult, twin: CellResult, units: Units) -> TwinShare | None:
    """None if fewer than two units have both, or a figure is missing."""
    both = [result.blocks.get(PRIMARY.name, {}) for result in (design, twin)]
    us, twin_us = (
        result.estimates[side_of(PRIMARY), PRIMARY.name].value for result in (design, twin)
    )
    ratios = PairedMean.of_blocks(units.gathered(log_ratios(*both)))
    if us is None or twin_us is None or ratios.count < FEWEST_BLOCKS:
        return None
    ratio = ratios.interval().through(math.exp)
    names = design.cell.contender, twin.cell.contender
    return TwinShare(step, *names, us, twin_us, ratio, ratios.count)
