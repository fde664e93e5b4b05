"""How often a table of claims holds a wrong verdict, simulated; and what its power is.

    .venv/bin/python -m tests.lab.family_error_rate          every case, some minutes
    .venv/bin/python -m tests.lab.family_error_rate 6 18     of 6 blocks and 18 parts

Each place has three designs and three parts, one for each pair of them: so parts have trials in
common, as those of a study do. Noise is of a trial's logarithm. "One": only the first design has
it, the others have normal noise; its mean logarithm is that of the others all the same.
"""

import sys
from collections.abc import Callable
from itertools import combinations

import numpy as np

from regatta.judge.statistics.joint import AROUND, decide_jointly
from regatta.judge.statistics.sign_flips import Floats

SPREAD = 0.02
DESIGNS = 3
TABLES = 1_000
Noise = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def normal(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return chance.normal(0, SPREAD, shape)


def skewed(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return SPREAD * (chance.exponential(1, shape) - 1)


def two_states(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """A tenth dearer in three trials of ten."""
    dearer = 0.1 * ((chance.random(shape) < 0.3) - 0.3)
    return dearer + chance.normal(0, SPREAD / 4, shape)


def doubled(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """One trial in ten takes twice as long."""
    twice = np.log(2) * ((chance.random(shape) < 0.1) - 0.1)
    return twice + chance.normal(0, SPREAD, shape)


def alone(noise: Noise) -> Noise:
    """Only the first design has it."""

    def drawn(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        found = normal(chance, shape)
        found[:, 0] = noise(chance, (shape[0], *shape[2:]))
        return found

    return drawn


NOISES: dict[str, Noise] = {
    "normal": normal,
    "skewed": skewed,
    "two states": two_states,
    "one in ten doubled": doubled,
    "one skewed": alone(skewed),
    "one with two states": alone(two_states),
    "one with one in ten doubled": alone(doubled),
}


def table(
    noise: Noise, chance: np.random.Generator, blocks: int, parts: int, ahead: float = 0.0
) -> Floats:
    """A row a part, a column a block; `ahead`: how much less the first design needs."""
    pairs = list(combinations(range(DESIGNS), 2))
    logs = noise(chance, (parts // len(pairs), DESIGNS, blocks))
    logs[:, 0] -= ahead
    rows = [logs[:, second] - logs[:, first] for first, second in pairs]
    return np.stack(rows, axis=1).reshape(parts, blocks)


def seen(rows: Floats) -> list[bool]:
    """Of each part whether it is told from no difference."""
    joint = decide_jointly([dict(enumerate(map(float, row))) for row in rows])
    return [decision.sign != AROUND for decision in joint.decisions]


def wrong_tables(noise: Noise, blocks: int, parts: int, tables: int) -> float:
    """The share of tables of equals in which something is told from no difference."""
    chance = np.random.default_rng([blocks, parts])
    return sum(any(seen(table(noise, chance, blocks, parts))) for _ in range(tables)) / tables


def power(noise: Noise, blocks: int, parts: int, tables: int, ahead: float) -> float:
    """The share of the parts with a difference that are told from none."""
    chance = np.random.default_rng([blocks, parts, 1])
    counted = np.arange(parts) % DESIGNS != DESIGNS - 1
    found = np.array([seen(table(noise, chance, blocks, parts, ahead)) for _ in range(tables)])
    return float(found[:, counted].mean())


def main(blocks: list[int], parts: list[int]) -> None:
    for count in blocks:
        for of in parts:
            tables = TABLES if count <= 10 else TABLES // 2
            for name, noise in NOISES.items():
                wrong = wrong_tables(noise, count, of, tables)
                print(f"{count} blocks, {of} parts, {name}: {wrong:.1%}")
            for ahead in (2, 4, 6):
                found = power(normal, count, of, tables // 4, ahead * SPREAD / 2)
                print(f"{count} blocks, {of} parts, {ahead} %: {found:.0%}")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(given[:1] or [6, 8, 10, 20], given[1:] or [18, 108])
