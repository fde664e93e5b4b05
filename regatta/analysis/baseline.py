"""CPU time beyond the baseline: the difference to a contender without the overhead.

The book's table: the CPU time of each design minus the iterative server's is what it spends on
managing processes and threads. Differences are paired within blocks; all of them at all steps are
one family (statistics/joint.py) with a family-wise error rate of 5 % and simultaneous intervals.
"""

from dataclasses import dataclass

import numpy as np

from regatta.analysis.statistics.autocorrelation import reach_of
from regatta.analysis.statistics.joint import AROUND, Mean, agreeing, decide_jointly
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.units import BLOCKS, Units


@dataclass(frozen=True)
class Difference:
    contender: str
    at: int
    """The step of the axis."""
    us_per_request: float
    low: float | None
    high: float | None
    """The ends of its interval; None with too few shared blocks."""
    blocks: int
    larger: bool
    """Whether it is distinguishable from 0."""


def differences(
    values: dict[int, dict[str, BlockValues]], baseline: str, units: Units = BLOCKS
) -> list[Difference]:
    """One for each step and contender that shares a block with the baseline."""
    found: list[tuple[str, int, BlockValues]] = []
    for step, by_contender in values.items():
        base = by_contender.get(baseline, {})
        for name, mine in by_contender.items():
            common = sorted(mine.keys() & base.keys())
            if name != baseline and common:
                less = {block: mine[block] - base[block] for block in common}
                found.append((name, step, units.gathered(less)))
    joint = decide_jointly([less for _, _, less in found], units=units)
    return [
        _difference(name, step, less, decision.sign, _reaching(less, joint.score, units))
        for (name, step, less), decision in zip(found, joint.decisions, strict=True)
    ]


def _difference(
    name: str, step: int, less: BlockValues, sign: int, reaching: tuple[float, float] | None
) -> Difference:
    low, high = (None, None) if reaching is None else agreeing(reaching, 0.0, sign)
    mean = Mean.of_blocks(less)
    return Difference(name, step, mean.value, low, high, mean.count, sign != AROUND)


def _reaching(less: BlockValues, score: float, units: Units) -> tuple[float, float] | None:
    """The ends of its interval; None with too few units for one."""
    if len(less) < units.fewest:
        return None
    mean = Mean.of_blocks(less)
    low, high = mean.interval(score)
    if units.sitting_of:
        return low, high
    # A difference in µs scales with the machine's speed, so autocorrelation of blocks matters.
    reach = reach_of(np.array([less[block] for block in sorted(less)])) or 0.0
    return min(low, mean.value - reach), max(high, mean.value + reach)
