"""What perf printed, cut at any byte or with some changed: it is understood, or refused in one
line."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regatta.errors import CounterError
from regatta.record.counters import COUNTED, EVENTS
from regatta.record.perf_output import read_counters

PRINTED = sorted((Path(__file__).parents[1] / "fixtures" / "perf").glob("*.json"))


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.stem)
@settings(max_examples=50)
@given(data=st.data())
def test_damaged_output_is_understood_or_refused(path: Path, data: st.DataObject) -> None:
    text = path.read_text()
    place = st.integers(0, len(text) - 1)
    for at in data.draw(st.lists(place, min_size=1, max_size=3)):
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", "9", "-", '"', "}", "\0", "é"]))
            + text[at + 1 :]
        )
    text = text[: data.draw(st.one_of(st.just(len(text)), place))]
    try:
        found = read_counters(text, EVENTS)
    except CounterError as error:
        told = str(error)
        assert "\n" not in told
        assert len(told) < 250
    else:
        assert all((one.value is not None) == (one.state == COUNTED) for one in found)
