"""What the time of a comparison allows: how many processes of each server, warmed, for how long.

The process is the independent unit, so a race takes as many as fit. Where warming is long, fewer
processes are each measured for longer.
"""

from collections.abc import Callable
from dataclasses import replace

from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS, FEWEST_SITTINGS
from regatta.measure.race.run_plan import MOST_SPOILT
from regatta.measure.trial.warming import SLICE_COSTS_S, WarmUps
from regatta.record.study import Study
from regatta.show.numbers import plural
from regatta.show.text import duration
from regatta.verbs.servers.wanted import MOST_BLOCKS

COSTS_S = 0.5
"""Of a process: starting it, looking at it until it listens, stopping it."""
LONG_S = 3.0
"""A window of a server that takes long to be warm."""


def fit(
    study: Study, warm_ups: WarmUps, left_s: float, needs_flips: bool, say: Callable[[str], None]
) -> Study:
    """The study with the blocks that `left_s` allows.

    `needs_flips`: never fewer than sign flips need, even if it takes longer.
    """
    warm_s = {cell.contender: warm_ups.expected_s(cell) for cell in study.cells}
    block_s = block_seconds(study, warm_ups)
    blocks = int(left_s / block_s) - study.counted_blocks
    if blocks < FEWEST_BLOCKS and study.counted_blocks:
        study = study.but(counted_blocks=0)
        blocks = int(left_s / block_s)
    few = blocks < FEWEST_BLOCKS and not needs_flips
    if few:
        long = tuple(replace(cell, duration_s=LONG_S) for cell in study.cells)
        study = study.but(cells=long)
        block_s = block_seconds(study, warm_ups)
        blocks = max(FEWEST_SITTINGS, int(left_s / block_s))
    blocks = min(MOST_BLOCKS, max(blocks, FEWEST_SITTINGS if few else FEWEST_BLOCKS))
    each = ", ".join(f"{name} {duration(seconds)}" for name, seconds in warm_s.items())
    say(
        f"a process is warm after about: {each}; {duration(left_s)} allow "
        f"{plural(blocks, 'process', 'processes')} of each, {plural(blocks, 'block')} of "
        f"{duration(block_s)}"
    )
    fewest = FEWEST_SITTINGS if few else FEWEST_BLOCKS
    # A trial may fail: the fewest are to be left. A verdict for CI plans its looks for the blocks
    # that there is time for.
    most = blocks if needs_flips else max(blocks, fewest + MOST_SPOILT)
    return study.but(blocks=fewest, most_blocks=most, few_blocks=few)


def block_seconds(study: Study, warm_ups: WarmUps) -> float:
    return sum(
        COSTS_S
        + warm_ups.expected_s(cell)
        + (cell.duration_s or 0.0)
        + study.slices * SLICE_COSTS_S
        for cell in study.cells
    )
