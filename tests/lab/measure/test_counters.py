"""perf's lines, from every kind of machine, become counters; what was not counted has no value."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.errors import CounterError
from regatta.record.counters import (
    COUNTED,
    EVENTS,
    NOT_COUNTED,
    NOT_SUPPORTED,
    Counter,
    parse_event_name,
)
from regatta.record.perf_output import TOPDOWN_METRICS, parse_output, read_counters

FIXTURES = Path(__file__).parents[1] / "fixtures" / "perf"


def counters(name: str) -> dict[str, Counter]:
    text = (FIXTURES / f"{name}.json").read_text()
    return {counter.event: counter for counter in read_counters(text, EVENTS)}


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.stem)
def test_every_wanted_event_has_an_answer_and_nothing_uncounted_has_a_value(path: Path) -> None:
    found = read_counters(path.read_text(), EVENTS)
    names = {counter.event for counter in found}
    for event in EVENTS:
        if event == "topdown":
            assert set(TOPDOWN_METRICS) <= names
        else:
            assert event in names or any(f"/{event}/" in name for name in names)
    for counter in found:
        assert (counter.value is not None) == (counter.state == COUNTED)
    assert len(names) == len(found)


def test_a_virtual_machine_counts_software_events_only() -> None:
    found = counters("vm-without-counters")
    assert found["task-clock"] == Counter("task-clock", 3_768_315.0, "ns", 100.0, COUNTED)
    assert found["context-switches"].value == 10
    assert found["syscalls"].value == 159
    for event in ("cycles", "instructions", "stalled-cycles-frontend", "tma_retiring"):
        assert found[event].state == NOT_SUPPORTED
        assert found[event].value is None


def test_without_rights_the_kernels_own_events_are_not_supported_and_the_clock_is() -> None:
    found = counters("unprivileged")
    assert found["task-clock"].value == 2_696_321
    for event in ("context-switches", "cpu-migrations", "syscalls", "cycles", "page-faults"):
        assert found[event].state == NOT_SUPPORTED
    assert found["page-faults:u"].value == 197


def test_a_hybrid_cpu_has_a_counter_for_each_kind_of_core() -> None:
    found = counters("intel-hybrid-topdown")
    assert found["cpu_core/cycles/"].value == 640_486_400
    assert found["cpu_atom/cycles/"].state == NOT_COUNTED
    assert "cycles" not in found
    assert found["tma_retiring"] == Counter("tma_retiring", 14.57595, "%", 100.0, COUNTED)
    assert sum(found[name].value or 0 for name in TOPDOWN_METRICS) == pytest.approx(100)


def test_an_intel_server_has_top_down_and_trailing_commas() -> None:
    found = counters("intel-topdown")
    assert found["cycles"].value == 48_433_482
    assert found["tma_backend_bound"].value == pytest.approx(43.226002)
    assert sum(found[name].value or 0 for name in TOPDOWN_METRICS) == pytest.approx(100, abs=0.01)


def test_an_amd_cpu_has_stalled_cycles_and_its_own_names_for_top_down() -> None:
    found = counters("amd-stalled")
    assert found["stalled-cycles-frontend"].value == 141_415
    assert found["stalled-cycles-backend"].value == 259_420
    assert found["tma_frontend_bound"].value == pytest.approx(31.4)


def test_a_multiplexed_counter_says_for_which_share_it_ran() -> None:
    found = counters("multiplexed")
    assert found["cycles"].running_percent == 63
    assert found["cache-references"].running_percent == 40
    assert found["cache-misses"].state == NOT_COUNTED


def test_newer_perf_prints_values_as_texts_and_groups_of_metrics() -> None:
    found = counters("newer-perf")
    assert found["cycles"].value == 1_707_308
    assert found["cache-misses"].state == NOT_COUNTED
    assert found["tma_retiring"].value == pytest.approx(15.251513)
    assert "tma_retiring (cpu_atom)" not in found


@pytest.mark.parametrize(
    ("text", "name", "pmu", "user"),
    [
        ("cycles", "cycles", None, False),
        ("cycles:u", "cycles", None, True),
        ("cycles:uk", "cycles", None, False),
        ("cpu_core/cycles/", "cycles", "cpu_core", False),
        ("cpu_core/cycles/u", "cycles", "cpu_core", True),
        ("cpu_core/cycles:u/", "cycles", "cpu_core", True),
        ("raw_syscalls:sys_enter", "raw_syscalls:sys_enter", None, False),
        ("raw_syscalls:sys_enter:u", "raw_syscalls:sys_enter", None, True),
        ("", "", None, False),
    ],
)
def test_a_name_is_taken_apart(text: str, name: str, pmu: str | None, user: bool) -> None:
    event = parse_event_name(text)
    assert (event.name, event.pmu, event.user_only) == (name, pmu, user)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"counter-value": "1", "event": "cycles"',
        '{"counter-value": "abc", "unit": "", "event": "cycles"}',
        '{"counter-value": "<a new word>", "unit": "", "event": "cycles"}',
        '{"counter-value": "1e999", "unit": "", "event": "cycles"}',
        '{"counter-value": NaN, "unit": "", "event": "cycles"}',
        '{"counter-value": "-1", "unit": "", "event": "cycles"}',
        '{"counter-value": null, "unit": "", "event": "cycles"}',
        '{"counter-value": true, "unit": "", "event": "cycles"}',
        '{"counter-value": "1", "unit": 1, "event": "cycles"}',
        '{"counter-value": "1", "unit": "", "event": ["cycles"]}',
        '{"counter-value": "1", "unit": "", "event": "cycles", "pcnt-running": 101}',
        '{"metric-value": "x", "metric-unit": "%  tma_retiring"}',
        '{"metric-unit": {}}',
        '{"metricgroup": 1}',
        '{"a": ' + "[" * 100_000,
        '{"counter-value": ' + "9" * 10_000 + "}",
    ],
)
def test_a_hostile_line_is_a_clear_error(line: str) -> None:
    with pytest.raises(CounterError, match="perf printed") as error:
        read_counters(line, EVENTS)
    assert len(str(error.value)) < 250


@pytest.mark.parametrize("text", ["", "\n\n", "# started on\n", "Some events weren't counted\n"])
def test_comments_and_hints_are_passed_over(text: str) -> None:
    assert parse_output(text).events == []


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["<not supported>", "<not counted>", "1.000000", "nan", "%  tma_retiring"]),
    st.lists(st.integers(), max_size=2),
)
keys = st.sampled_from(
    ["counter-value", "unit", "event", "event-runtime", "pcnt-running", "metric-value"]
    + ["metric-unit", "metric-threshold", "metricgroup", "other"]
)


@given(st.lists(st.one_of(st.text(), st.dictionaries(keys, values).map(json.dumps)), max_size=5))
def test_any_lines_are_counters_or_a_clear_error(lines: list[str]) -> None:
    try:
        found = read_counters("\n".join(lines), EVENTS)
    except CounterError as error:
        told = str(error)
        found = []
    else:
        told = "perf printed"
    assert told.startswith("perf printed")
    for counter in found:
        assert (counter.value is not None) == (counter.state == COUNTED)


@given(st.integers(0, 2**40), st.floats(0.01, 100))
def test_a_count_comes_through_unchanged(count: int, running: float) -> None:
    line = json.dumps(
        {
            "counter-value": f"{count}.000000",
            "unit": "",
            "event": "cycles",
            "pcnt-running": round(running, 2),
        }
    )
    found = read_counters(line, ["cycles"])
    assert found == [Counter("cycles", float(count), "count", round(running, 2), COUNTED)]
