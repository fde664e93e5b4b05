"""Who waits in a burst, in which order replies come, what they tell: on bursts that are known."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from regatta.record.counters import NOT_SUPPORTED
from regatta.record.metrics import BY_NAME
from regatta.record.readings import Reading
from regatta.record.records import Trial
from regatta.record.samples import SAMPLE, ranks
from tests.lab.record.test_readings import read, trial
from tests.lab.synthetic import packed

Request = tuple[int, int, int]
"""When it arrived, when it was answered, what it was told."""
BURST_NS = 10**9


def raced(*bursts: Sequence[Request], rounds: int | None = -1) -> Trial:
    """A trial of these bursts, one after the other; each connection has its place in all."""
    records = [
        (number * BURST_NS + start, 0, number * BURST_NS + end, connection, 0, named)
        for number, burst in enumerate(bursts)
        for connection, (start, end, named) in enumerate(burst)
    ]
    samples = packed(np.array(records[::-1], SAMPLE))
    return trial({}, rounds=len(bursts) if rounds == -1 else rounds, samples=samples)


def of_client(name: str, found: Trial) -> Reading:
    return read(name, found, "client")


ITERATIVE = [(at, 100 * (at + 1), 5) for at in range(10)]
"""One after the other."""
LAST_FIRST = [(at, 100 * (10 - at), 5) for at in range(10)]


@pytest.mark.parametrize(("burst", "rank"), [(ITERATIVE, 1), (LAST_FIRST, -1)])
def test_whoever_comes_later_waits_longer_or_not(burst: list[Request], rank: float) -> None:
    assert of_client("latency_by_arrival", raced(burst)) == pytest.approx(rank)
    assert of_client("latency_by_arrival", raced(burst, ITERATIVE)) == pytest.approx((rank + 1) / 2)


def test_ranks_are_those_of_spearman() -> None:
    """By hand: places 1 2 3 4, latencies 10 30 20 30, so ranks 1 3.5 2 3.5; r = 3 / √(5 × 4.5)."""
    burst = [(0, 10, 1), (1, 31, 1), (2, 22, 1), (3, 33, 1)]
    found = of_client("latency_by_arrival", raced(burst))
    assert found == pytest.approx(3 / (5 * 4.5) ** 0.5)


def test_different_answers_are_counted_in_each_burst() -> None:
    two = [(0, 10, 7), (1, 11, 8), (2, 12, 7)]
    alike = [(0, 10, 9), (1, 11, 9), (2, 12, 9)]
    assert of_client("answers_per_burst", raced(two, alike)) == pytest.approx(1.5)
    not_told = [(0, 10, 0), (1, 11, 0), (2, 12, 0)]
    assert of_client("answers_per_burst", raced(not_told)) == NOT_SUPPORTED


@pytest.mark.parametrize(
    "name", ["latency_by_arrival", "replies_out_of_order_percent", "answers_per_burst"]
)
def test_other_loads_have_no_bursts_and_one_connection_has_no_order(name: str) -> None:
    assert of_client(name, raced(ITERATIVE, ITERATIVE, rounds=None)) == NOT_SUPPORTED
    alone = of_client(name, raced([(0, 10, 1)], [(0, 12, 1)]))
    assert alone == (1 if name == "answers_per_burst" else NOT_SUPPORTED)
    assert BY_NAME[name].sides == ("client",)


@given(st.lists(st.integers(0, 7), min_size=8, max_size=8))
def test_late_replies_are_those_that_somebody_overtook(order: list[int]) -> None:
    """As RFC 4737 counts them: once, however many overtook it."""
    burst = [(at, 100 + order[at], 1) for at in range(8)]
    late = sum(any(order[later] < order[at] for later in range(at + 1, 8)) for at in range(8))
    for bursts, share in (([burst], late / 8), ([burst, ITERATIVE[:8]], late / 16)):
        found = of_client("replies_out_of_order_percent", raced(*bursts))
        assert found == pytest.approx(share * 100)


SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 12))


@given(arrays(np.int64, SHAPES, elements=st.integers(0, 5)))
def test_ranks_are_scipys(values: NDArray[np.int64]) -> None:
    assert np.array_equal(ranks(values), stats.rankdata(values, axis=-1))
    assert np.array_equal(ranks(values[0]), stats.rankdata(values[0]))
