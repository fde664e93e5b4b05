"""Power: a server that is slowed by a known spin. How often is that seen, in how many blocks?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from regatta.analysis.contrast import by_block, paired
from regatta.analysis.metrics import PRIMARY
from regatta.calibrate.goals import Context, Goal, Part
from regatta.calibrate.sizes import (
    BLOCKS,
    BUDGET_S,
    ENOUGH_BLOCKS,
    LEVEL,
    LITTLE_PERCENT,
    MUCH_PERCENT,
    SEEN_PERCENT,
    SLOWER_PERCENT,
    Sizes,
    sizes,
)
from regatta.calibrate.studies import (
    PLAIN,
    slowed_name,
    slowed_study,
    spins_raced,
)
from regatta.calibrate.trials import Raced, read_raced
from regatta.errors import CalibrationError
from regatta.ledger_read import Trial
from regatta.ledger_read import read as read_ledger
from regatta.progress import duration

SEED = 1993
SIDE = "server"
PILOT_BLOCKS = 4
STEP = 1.25
"""Between the numbers of blocks that are tried."""


@dataclass(frozen=True)
class Slowed:
    """The blocks that have both, and what is known of the slower one."""

    pairs: list[tuple[Trial, Trial]]
    """The plain server's trial and the slowed one's."""
    spin_us: int
    plain_us: float
    """CPU per request of the plain one."""
    seen: str
    """The slowdown as all blocks together show it."""
    block_s: float
    """What a block of these two takes."""

    @property
    def known_percent(self) -> float:
        return 100 * self.spin_us / self.plain_us


def run(context: Context) -> list[Goal]:
    size = sizes(context.quick)
    # What a request costs depends on who stands beside it, so it is measured in such company.
    trial = replace(size, slowed_blocks=PILOT_BLOCKS)
    study = slowed_study(context, trial, dict.fromkeys(SLOWER_PERCENT, 1))
    pilot = context.race(study, context.place(f"{PART.name}-pilot"))
    spins = spins_us(read_raced(pilot))
    ledger = context.race(slowed_study(context, size, spins), context.place(PART.name))
    raced = read_raced(ledger)
    # Those of a race that was stopped, and gone on with, are not today's.
    raced_us = spins_raced(read_ledger(ledger).meta["study_toml"])
    found = {percent: slowed(raced, percent, raced_us[percent]) for percent in SLOWER_PERCENT}
    return [
        in_ten_blocks(found[MUCH_PERCENT], MUCH_PERCENT, size),
        within_budget(found[LITTLE_PERCENT], LITTLE_PERCENT, size),
    ]


def spins_us(raced: Raced) -> dict[int, int]:
    """How long to spin for each slowdown, from what a request costs this server here."""
    read = by_block(PRIMARY, SIDE, list(raced.timed.get(PLAIN, {}).values()))
    if isinstance(read, str):
        raise CalibrationError(f"what a request costs is not known: {read}")
    mean_us = float(np.mean(list(read.values())))
    return {percent: max(1, round(mean_us * percent / 100)) for percent in SLOWER_PERCENT}


def slowed(raced: Raced, percent: int, spin_us: int) -> Slowed:
    names = (PLAIN, slowed_name(percent))
    blocks = raced.shared("timed", names)
    if len(blocks) < BLOCKS:
        raise CalibrationError(f"only {len(blocks)} blocks of the slowed server went well")
    pairs = [(raced.timed[names[0]][at], raced.timed[names[1]][at]) for at in blocks]
    plain = by_block(PRIMARY, SIDE, [pair[0] for pair in pairs])
    contrast = paired(PRIMARY, SIDE, [pair[0] for pair in pairs], [pair[1] for pair in pairs])
    if isinstance(plain, str) or isinstance(contrast, str):
        raise CalibrationError(f"the slowed server cannot be compared: {plain}, {contrast}")
    low, high = (100 * (end - 1) for end in contrast.interval(LEVEL))
    return Slowed(
        pairs=pairs,
        spin_us=spin_us,
        plain_us=float(np.mean(list(plain.values()))),
        seen=f"{100 * (contrast.value - 1):.2f} % ({low:.2f} to {high:.2f})",
        block_s=2 * raced.seconds_per_trial,
    )


def seen_percent(found: Slowed, blocks: int, draws: int) -> float:
    """How often so many blocks show the slower server to be slower.

    Drawn from the real blocks, each at most once; where more are asked for than half of them, anew
    each time, or all draws would be much the same.
    """
    chance = np.random.default_rng([SEED, blocks])
    again = 2 * blocks > len(found.pairs) and blocks > BLOCKS
    hits = 0
    for _ in range(draws):
        drawn = chance.choice(len(found.pairs), blocks, replace=again)
        # A block that is drawn twice stands for two that are alike.
        first, second = (
            [replace(found.pairs[at][side], block=number) for number, at in enumerate(drawn)]
            for side in (0, 1)
        )
        contrast = paired(PRIMARY, SIDE, first, second)
        hits += not isinstance(contrast, str) and contrast.value > 1 and contrast.p_value() <= LEVEL
    return 100 * hits / draws


def known(found: Slowed, percent: int) -> str:
    return (
        f"{percent} % is a spin of {found.spin_us} µs in {found.plain_us:.0f} µs, "
        f"{found.known_percent:.2f} %; all {len(found.pairs)} blocks show {found.seen}"
    )


def in_ten_blocks(found: Slowed, percent: int, size: Sizes) -> Goal:
    share = seen_percent(found, BLOCKS, size.draws)
    wanted = SEEN_PERCENT[percent]
    return Goal(
        f"power: a slowdown of {percent} % in {BLOCKS} blocks",
        f"seen in at least {wanted:g} %",
        f"{share:.1f} %",
        met=share >= wanted if len(found.pairs) >= ENOUGH_BLOCKS else None,
        detail=f"{size.draws:,} draws, {duration(BLOCKS * found.block_s)} of racing each; "
        + known(found, percent),
        value=share,
    )


def within_budget(found: Slowed, percent: int, size: Sizes) -> Goal:
    """The fewest blocks that see it often enough, and what they take."""
    wanted = SEEN_PERCENT[percent]
    most = max(BLOCKS, int(BUDGET_S / found.block_s))
    blocks, share = BLOCKS, seen_percent(found, BLOCKS, size.draws)
    while share < wanted and blocks < most:
        blocks = min(most, round(blocks * STEP))
        share = seen_percent(found, blocks, size.draws)
    drawn = "drawn again and again from" if 2 * blocks > len(found.pairs) else "out of"
    return Goal(
        f"power: a slowdown of {percent} % in {duration(BUDGET_S)}",
        f"seen in at least {wanted:g} %",
        f"{share:.1f} % in {duration(blocks * found.block_s)}",
        met=share >= wanted if len(found.pairs) >= ENOUGH_BLOCKS else None,
        detail=f"{blocks} blocks {drawn} {len(found.pairs)}, {size.draws:,} times; "
        + known(found, percent),
        value=share,
    )


PART = Part(
    name="power",
    says="a server that is slowed by a known amount, how often that is seen",
    run=run,
    takes_s=330,
    reads_races=True,
)
