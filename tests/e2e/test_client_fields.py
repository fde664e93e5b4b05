"""The fields of regatta-client's JSON, and what becomes of them when the lab merges several."""

from typing import Any

import pytest

from regatta.measure.places.sides import ClockOffset
from regatta.measure.trial.merge import (
    CLIENTS,
    SLICES,
    ClientStart,
    merge_slices,
    pool_clients,
    total,
)
from tests.e2e.scripted_servers import LINE_REPLY, always, open_load, result_of, serving

PERCENTILES = {"latency_ns", "first_byte_ns", "late_ns", "first_event_ns", "next_event_ns"}
"""They cannot be merged: the samples have the first ones."""
LEFT_OUT = {
    "slices": {
        *PERCENTILES,
        "began_ns",  # each slice has its own
        "achieved_per_s",  # as `requests` over the sending time
        "rounds",  # of a slice; the cell has those of the load
        "duration_ns",
        "problem",  # a slice with one fails its trial
    },
    "clients": {
        *PERCENTILES,
        "began_ns",  # as `began_late_ns` of each
        "elapsed_ns",  # from the first start to the last end, which take the samples
        "throughput_per_s",
        "duration_ns",  # the same for all; the cell has it
    },
}
TABLES = {"slices": SLICES, "clients": CLIENTS}
"""Of two that are alike, the whole has twice what is a total, and of all else the same."""


def twice(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: twice(part) for key, part in value.items()}
    return 2 * value


@pytest.mark.parametrize("load", ["", "--load closed --duration 0.1", open_load(50, 0.1)])
@pytest.mark.parametrize("kind", ["slices", "clients"])
def test_every_field_is_merged_or_named_as_left_out(kind: str, load: str) -> None:
    with serving(always(LINE_REPLY)) as server:
        result, _ = result_of(server, f"{load} --idle 2 --slow 1")
    # No field may be 0, or what is lost would not be seen.
    result |= {key: value or 7 for key, value in result.items() if type(value) is int}
    result |= {"cpu_share": 0.25, "client_bound": None}
    if kind == "slices":
        whole = merge_slices([result, result])
    else:
        start = ClientStart("", (1,), result["began_ns"], ClockOffset())
        whole = pool_clients([result, result], [start, start])
    assert set(result) - set(whole) == set(result) & LEFT_OUT[kind]
    expected = {
        key: twice(result[key]) if TABLES[kind].get(key) is total else result[key]
        for key in set(result) & set(whole)
    }
    for name in ("throughput_per_s", "cpu_share", "start_skew_ns"):  # worked out again
        expected[name] = whole.get(name)
    assert {key: whole.get(key) for key in expected} == expected
