"""How often a verdict on two versions is wrong, and how often it finds a regression, simulated.

    .venv/bin/python -m tests.lab.verdict_error_rate         every noise and difference, minutes

A race is judged at every look, as a real one is, in all four that are judged. A trial's noise is
that of its logarithm: as family_error_rate.py has it, scaled to what was measured for each, and
correlated with that of the block before. What drifts in all three alike cancels and is left out.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from regatta.judge.judged import (
    CPU,
    DEFAULT,
    HOLDS,
    JUDGED,
    NO_REGRESSION,
    REGRESSION,
    UNDECIDED,
    Judged,
    Thresholds,
    thresholds,
)
from regatta.judge.regression import EQUALS_DIFFER, Contrast, decided
from tests.lab.family_error_rate import NOISES, SPREAD, Noise
from tests.lab.simulated_races import cell

MOST_BLOCKS = 125
"""What five minutes have room for."""
FAMILY_BLOCKS, SEARCH_BLOCKS = 40, 12
"""The same if servers are warmed for long."""
RUNS = 400
CELL = cell(1, "head", 2, 50)
FLOOR = "the floor"
VARIES = {"cpu": 0.025, "p50": 0.04, "p99": 0.15, "holds": 0.06}
"""Standard deviation of a trial's logarithm between blocks, apart from what all share."""
CORRELATION = 0.3
"""Of neighbouring blocks."""


def race(  # noqa: PLR0913, PLR0917  (what a simulated race follows from)
    noise: Noise,
    chance: np.random.Generator,
    ratio: float,
    blocks: int,
    judged: Judged = CPU,
    spread: float = SPREAD,
    correlation: float = 0.0,
) -> Contrast:
    """Head is `ratio` times as bad as base, which races twice."""
    values = noise(chance, (3, blocks)) * spread / SPREAD
    for block in range(1, blocks):
        values[:, block] *= np.sqrt(1 - correlation**2)
        values[:, block] += correlation * values[:, block - 1]
    base, again, head = values
    return Contrast(
        CELL,
        tuple(range(blocks)),
        head + np.log(ratio) - (base + again) / 2,
        again - base,
        judged=judged,
    )


def outcome(found: Contrast, threshold: float) -> tuple[str, int]:
    """Of a race that is judged while it grows, and after how many blocks it ended."""
    verdict = decided([found], {found.judged.name: threshold}, len(found.head), over=True)
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


def planted(limits: Thresholds, name: str, times: float) -> dict[str, float]:
    """How many times as bad head is in each, if it is `times` the threshold worse in one."""
    return {
        judged.name: float(np.exp(judged.limit(times * limits[judged.name])))
        if judged.name == name
        else 1.0
        for judged in JUDGED
    }


def family(
    noise: Noise, worse: Mapping[str, float], limits: Thresholds, runs: int = RUNS
) -> dict[str, dict[str, float]]:
    """The share of the races with each outcome, by what is judged and over all of it."""
    chance = np.random.default_rng(815)
    found: dict[str, Counter[str]] = {}
    for _ in range(runs):
        contrasts = [
            race(
                noise,
                chance,
                worse[judged.name],
                SEARCH_BLOCKS if judged is HOLDS else FAMILY_BLOCKS,
                judged,
                VARIES[judged.name],
                CORRELATION,
            )
            for judged in JUDGED
        ]
        verdict = decided(contrasts, limits, FAMILY_BLOCKS, over=True)
        for name, how in {**verdict.by_name, "all": verdict.outcome}.items():
            found.setdefault(name, Counter())[how] += 1
    return {
        name: {how: counts[how] / runs for how in (NO_REGRESSION, REGRESSION, UNDECIDED)}
        for name, counts in found.items()
    }


def main() -> None:
    limits = thresholds(DEFAULT)
    print(f"all four, at most {FAMILY_BLOCKS} blocks, {SEARCH_BLOCKS} searches, {RUNS} races")
    for noise in ("normal", "skewed", "one with two states"):
        for judged in (None, *JUDGED):
            worse = planted(limits, judged.name if judged else "", 2)
            found = family(NOISES[noise], worse, limits)
            says = ", ".join(f"{how} {share:.1%}" for how, share in found["all"].items())
            by_name = (
                "" if judged is None else f"; by {judged.name} {found[judged.name][REGRESSION]:.1%}"
            )
            print(f"{noise}: {f'{judged.name} worse' if judged else 'equals'}: {says}{by_name}")
    print(f"CPU alone, a trial varies by {SPREAD:.0%}, at most {MOST_BLOCKS} blocks, {RUNS} races")
    for name, noise_of in NOISES.items():
        for threshold, ratio in ((0.02, 1.0), (0.02, 1.02), (0.02, 1.05), (0.05, 1.0), (0.05, 1.1)):
            found_of = rates(noise_of, ratio, threshold)
            print(f"{name}: head takes {ratio}, --fail-over {threshold:.0%}: {found_of}")


if __name__ == "__main__":
    main()
