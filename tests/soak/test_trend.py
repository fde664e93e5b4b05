"""The trend of a soak finds the smallest leak and ignores noise."""

import random

import pytest

from tests.soak.trend import trend

SECONDS = 120
REQUESTS_PER_S = 500.0


def readings(leak: float, noise: float, seed: int) -> list[float]:
    """One reading a second: a leak per 1,000 requests in steps of 4, plus noise."""
    chance = random.Random(seed)
    leaked = [leak * REQUESTS_PER_S / 1000 * second for second in range(SECONDS)]
    return [1000 + value // 4 * 4 + chance.gauss(0, noise) for value in leaked]


@pytest.mark.parametrize("seed", range(20))
def test_a_leak_of_one_per_thousand_requests_is_found_in_noise(seed: int) -> None:
    assert trend(range(SECONDS), readings(1, 20, seed), REQUESTS_PER_S).grows(1)


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_growth(seed: int) -> None:
    assert not trend(range(SECONDS), readings(0, 20, seed), REQUESTS_PER_S).grows(1)


def test_one_step_is_no_growth() -> None:
    stepped = [100.0] * 40 + [140.0] * 80
    assert not trend(range(SECONDS), stepped, REQUESTS_PER_S).grows(1)


def test_the_slope_is_that_of_the_leak() -> None:
    found = trend(range(SECONDS), readings(3, 1, seed=1), REQUESTS_PER_S)
    assert found.low < found.slope < found.high
    assert 2.8 < found.slope < 3.2
