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


VM, HYBRID = "vm-without-counters", "intel-hybrid-topdown"


@pytest.mark.parametrize(
    ("cpu", "event", "value"),
    [
        (VM, "task-clock", 3_768_315),
        (VM, "context-switches", 10),
        (VM, "syscalls", 159),
        (VM, "cycles", NOT_SUPPORTED),
        (VM, "stalled-cycles-frontend", NOT_SUPPORTED),
        (VM, "tma_retiring", NOT_SUPPORTED),
        ("unprivileged", "task-clock", 2_696_321),
        ("unprivileged", "syscalls", NOT_SUPPORTED),
        ("unprivileged", "cycles", NOT_SUPPORTED),
        ("unprivileged", "page-faults", NOT_SUPPORTED),
        ("unprivileged", "page-faults:u", 197),
        (HYBRID, "cpu_core/cycles/", 640_486_400),
        (HYBRID, "cpu_atom/cycles/", NOT_COUNTED),
        (HYBRID, "tma_retiring", 14.57595),
        ("intel-topdown", "cycles", 48_433_482),
        ("intel-topdown", "tma_backend_bound", 43.226002),
        ("amd-stalled", "stalled-cycles-frontend", 141_415),
        ("amd-stalled", "stalled-cycles-backend", 259_420),
        ("amd-stalled", "tma_frontend_bound", 31.4),
        ("multiplexed", "cache-misses", NOT_COUNTED),
        ("newer-perf", "cycles", 1_707_308),
        ("newer-perf", "cache-misses", NOT_COUNTED),
        ("newer-perf", "tma_retiring", 15.251513),
    ],
)
def test_each_kind_of_machine_counts_what_it_can(cpu: str, event: str, value: object) -> None:
    found = counters(cpu)[event]
    assert found.state == (value if isinstance(value, str) else COUNTED)
    assert found.value == (None if isinstance(value, str) else pytest.approx(value))


def test_a_counter_has_its_unit_and_the_share_for_which_it_ran() -> None:
    assert counters(VM)["task-clock"] == Counter("task-clock", 3_768_315, "ns", 100, COUNTED)
    assert counters(HYBRID)["tma_retiring"].unit == "%"
    found = counters("multiplexed")
    assert (found["cycles"].running_percent, found["cache-references"].running_percent) == (63, 40)


@pytest.mark.parametrize("cpu", [HYBRID, "intel-topdown"])
def test_the_top_down_metrics_make_up_the_whole_and_kinds_of_core_no_total(cpu: str) -> None:
    found = counters(cpu)
    assert sum(found[name].value for name in TOPDOWN_METRICS) == pytest.approx(100, abs=0.01)
    assert ("cycles" in found) == (cpu != HYBRID)
    assert "tma_retiring (cpu_atom)" not in counters("newer-perf")


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
