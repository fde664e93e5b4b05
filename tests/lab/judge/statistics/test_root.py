"""`root_between` against scipy's brentq."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize  # type: ignore[import-untyped]

from regatta.judge.statistics.sign_flips import root_between

HIGHEST = 50.0


@given(st.floats(0.01, 49), st.floats(0.05, 5), st.sampled_from([1, -1]))
def test_it_finds_what_brentq_finds(crossing: float, steepness: float, sign: int) -> None:
    calls = 0

    def function(at: float) -> float:
        nonlocal calls
        calls += 1
        return sign * (math.atan(steepness * (at - crossing)) + (at - crossing) ** 3)

    found = root_between(function, 0, HIGHEST, 1e-9)
    assert found == pytest.approx(
        optimize.brentq(function, 0, HIGHEST, xtol=1e-12), rel=0, abs=1e-9
    )
    assert calls < 200


def test_flat_ends_do_not_stop_it() -> None:
    """As with p-values, which are 0 over most of the bracket."""

    def p_value(at: float) -> float:
        return max(0.0, 1 - at) - 0.05

    assert root_between(p_value, 0, 1e6, 1e-9) == pytest.approx(0.95, abs=1e-8)


def test_a_zero_at_an_end_is_found() -> None:
    assert root_between(lambda at: at, 0, 1, 1e-9) == 0
    assert root_between(lambda at: at - 1, 0, 1, 1e-9) == 1


def test_equal_signs_are_an_error() -> None:
    with pytest.raises(ValueError, match="no change of sign between 1 and 2"):
        root_between(lambda at: at, 1, 2, 1e-9)
