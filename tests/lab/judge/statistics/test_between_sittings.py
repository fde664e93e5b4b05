"""The share of variance between sittings, with its interval."""

import math

import numpy as np
import pytest

from regatta.judge.statistics.units import Between, between

BLOCKS_EACH = 6


def raced(
    chance: np.random.Generator, sittings: int, spread: float, noise: float, truth: float = 0.0
) -> Between:
    """Of two contenders; `truth`: the logarithm of their ratio."""
    apart = chance.normal(truth, spread, sittings).repeat(BLOCKS_EACH)
    apart = apart + chance.normal(0, noise, len(apart))
    drift = np.exp(chance.normal(6, 0.2, len(apart)))
    first = {block: float(value) for block, value in enumerate(drift)}
    second = {block: first[block] * math.exp(gap) for block, gap in enumerate(apart)}
    belongs = {block: block // BLOCKS_EACH for block in first}
    return between([{"a": first, "b": second}], belongs)


@pytest.mark.parametrize("sittings", [2, 5])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_the_interval_covers_the_share_at_95_percent(sittings: int, share: float) -> None:
    chance = np.random.default_rng(14)
    spread, noise = math.sqrt(share) / 20, math.sqrt(1 - share) / 20
    found = [raced(chance, sittings, spread, noise) for _ in range(300)]
    held = sum(one.share.low <= share <= one.share.high for one in found) / len(found)
    assert held >= 0.915
    if share:
        assert held <= 0.985


def test_the_prediction_interval_covers_the_next_race_at_95_percent() -> None:
    chance = np.random.default_rng(12)
    held = 0
    for _ in range(300):
        apart = chance.normal(0, 0.03, 6).repeat(BLOCKS_EACH)
        apart = apart + chance.normal(0, 0.02, len(apart))
        known = dict(enumerate(np.exp(apart[: 5 * BLOCKS_EACH]).tolist()))
        base = dict.fromkeys(known, 1.0)
        belongs = {block: block // BLOCKS_EACH for block in known}
        found = between([{"a": base, "b": known}], belongs)
        off = apart[5 * BLOCKS_EACH :].mean() - apart[: 5 * BLOCKS_EACH].mean()
        held += abs(off) <= math.log1p(found.reach)
    assert 0.91 <= held / 300 <= 0.985


def test_common_variation_cancels() -> None:
    found = raced(np.random.default_rng(13), 5, 0.0, 1e-6)
    assert found.reach < 1e-4


def test_one_sitting_or_one_block_in_each_has_no_estimate() -> None:
    values = {1: 1.0, 2: 1.1, 3: 1.2}
    others = {1: 1.0, 2: 1.3, 3: 1.1}
    place = {"a": values, "b": others}
    assert between([place], dict.fromkeys(values, 1)) is None
    assert between([place], {1: 1, 2: 2, 3: 3}) is None
    assert between([{"a": values}], {1: 1, 2: 2, 3: 2}) is None
    assert between([place], {1: 1, 2: 2, 3: 2}) is not None
