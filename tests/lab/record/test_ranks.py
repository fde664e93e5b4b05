"""Ranks with ties, against scipy's."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from regatta.record.samples import ranks

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 12))


@given(arrays(np.int64, SHAPES, elements=st.integers(0, 5)))
def test_ranks_are_scipys(values: NDArray[np.int64]) -> None:
    assert np.array_equal(ranks(values), stats.rankdata(values, axis=-1))
    assert np.array_equal(ranks(values[0]), stats.rankdata(values[0]))
