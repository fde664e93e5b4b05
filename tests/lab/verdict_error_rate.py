"""How often a verdict on two versions is wrong, and how often it finds a regression, simulated.

    .venv/bin/python -m tests.lab.verdict_error_rate         every noise and difference, minutes

A trial's noise is that of its logarithm, as family_error_rate.py has it. The race is judged at
every look, as a real one is.
"""

from collections import Counter

import numpy as np

from regatta.versus.verdict import (
    EQUALS_DIFFER,
    NO_REGRESSION,
    REGRESSION,
    UNDECIDED,
    Contrast,
    decided,
)
from tests.lab.family_error_rate import NOISES, SPREAD, Noise
from tests.lab.simulated_races import cell

MOST_BLOCKS = 125
"""What five minutes have room for."""
RUNS = 400
CELL = cell(1, "head", 2, 50)
FLOOR = "the floor"


def race(noise: Noise, chance: np.random.Generator, ratio: float, blocks: int) -> Contrast:
    """Head takes `ratio` times as much as base, which races twice."""
    base, again, head = noise(chance, (3, blocks))
    return Contrast(
        CELL, tuple(range(blocks)), head + np.log(ratio) - (base + again) / 2, again - base
    )


def outcome(found: Contrast, threshold: float) -> tuple[str, int]:
    """Of a race that is judged while it grows, and after how many blocks it ended."""
    verdict = decided([found], threshold, len(found.head), over=True)
    return FLOOR if verdict.why == EQUALS_DIFFER else verdict.outcome, verdict.blocks


def rates(noise: Noise, ratio: float, threshold: float, runs: int = RUNS) -> dict[str, float]:
    """The share of the races with each outcome, and the mean number of blocks."""
    chance = np.random.default_rng(4711)
    found = [outcome(race(noise, chance, ratio, MOST_BLOCKS), threshold) for _ in range(runs)]
    shares = Counter(how for how, _ in found)
    known = (NO_REGRESSION, REGRESSION, UNDECIDED, FLOOR)
    return {how: shares[how] / runs for how in known} | {
        "blocks": float(np.mean([blocks for _, blocks in found]))
    }


def main() -> None:
    print(f"a trial varies by {SPREAD:.0%}, at most {MOST_BLOCKS} blocks, {RUNS} races")
    for name, noise in NOISES.items():
        for threshold, ratio in ((0.02, 1.0), (0.02, 1.02), (0.02, 1.05), (0.05, 1.0), (0.05, 1.1)):
            found = rates(noise, ratio, threshold)
            words = ", ".join(
                f"{how} {share:.1%}" for how, share in found.items() if how != "blocks"
            )
            print(
                f"{name}: head takes {ratio}, --fail-over {threshold:.0%}: {words}; "
                f"{found['blocks']:.0f} blocks"
            )


if __name__ == "__main__":
    main()
