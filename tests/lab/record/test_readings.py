"""What is derived from a trial's counters is what perf stat prints behind them, where it is right.

The figures of perf stat are those in its own lines (`metric-value`) of the fixtures.
"""

from functools import partial
from pathlib import Path

import pytest

from regatta.record.counters import EVENTS, NOT_COUNTED, NOT_SUPPORTED, Counter, counted
from regatta.record.metrics import BY_NAME
from regatta.record.perf_output import read_counters
from regatta.record.readings import Reading
from regatta.record.records import Trial
from tests.lab import fake_records

FIXTURES = Path(__file__).parents[1] / "fixtures" / "perf"
S = 1_000_000_000
trial = partial(fake_records.trial, kind="counted", scope="process", requests=100, answered=100)


def of_perf(*counters: Counter) -> Trial:
    return trial({("server", "perf", counter.event): counter for counter in counters})


def recorded(name: str) -> Trial:
    return of_perf(*read_counters((FIXTURES / f"{name}.json").read_text(), EVENTS))


def read(name: str, of: Trial, side: str = "server") -> Reading:
    reading = BY_NAME[name].read
    assert reading is not None
    return reading(of, side)


@pytest.mark.parametrize(
    ("cpu", "metric", "printed"),
    [
        ("amd-stalled", "clock_ghz", 1.015317),
        ("amd-stalled", "context_switches_per_second", 715.324468),
        ("amd-stalled", "page_faults_per_second", 47_211.415),
        ("amd-stalled", "stalled_cycles_frontend_share_percent", 9.963153),
        ("amd-stalled", "stalled_cycles_backend_share_percent", 18.277),
        ("amd-stalled", "stalled_cycles_per_instruction", 0.250652),
        ("arm-server", "clock_ghz", 2.6),
        ("arm-server", "branches_per_second", 416e6),
        ("arm-server", "stalled_cycles_per_instruction", 0.5),
        ("intel-hybrid-topdown", "clock_ghz", 1.554),
        ("intel-hybrid-topdown", "counters_running_percent", 100),
        ("multiplexed", "clock_ghz", 3.317),
        ("multiplexed", "cache_references_per_second", 6.649659e6),
        ("multiplexed", "counters_running_percent", 40),
        ("newer-perf", "clock_ghz", 2.853746),
        ("vm-without-counters", "counters_running_percent", 100),
    ],
)
def test_it_is_what_perf_stat_prints(cpu: str, metric: str, printed: float) -> None:
    assert read(metric, recorded(cpu)) == pytest.approx(printed, rel=1e-3)


@pytest.mark.parametrize(
    ("cpu", "metric"),
    [
        ("vm-without-counters", "clock_ghz"),
        ("vm-without-counters", "instructions_per_second"),
        ("vm-without-counters", "stalled_cycles_per_instruction"),
        ("intel-topdown", "stalled_cycles_frontend_share_percent"),
    ],
)
def test_what_the_cpu_does_not_count_is_no_number(cpu: str, metric: str) -> None:
    assert read(metric, recorded(cpu)) == NOT_SUPPORTED


@pytest.mark.parametrize(("value", "unit"), [("0.475", "tma_retiring"), ("47.5", "%  retiring")])
def test_a_share_of_the_slots_is_in_per_cent(value: str, unit: str) -> None:
    line = f'{{"metric-value": "{value}", "metric-unit": "{unit}"}}'
    (share, *_) = read_counters(line, ["topdown"])
    assert (share.event, share.value) == ("tma_retiring", 47.5)


def test_what_was_never_on_has_no_rate() -> None:
    assert read("cache_misses_per_second", recorded("multiplexed")) == NOT_COUNTED


def test_kinds_of_core_weigh_as_the_time_that_a_thread_was_on_them() -> None:
    """perf has scaled each to all of the time: their sum would be nearly twice the truth."""
    both = recorded("intel-hybrid-both")
    cycles = 0.939 * 400e6 + 0.061 * 200e6
    assert read("cycles_per_request", both) == pytest.approx(cycles / 100)
    assert read("clock_ghz", both) == pytest.approx(0.939 * 4 + 0.061 * 2)
    instructions = 0.939 * 800e6 + 0.061 * 200e6
    assert read("instructions_per_cycle", both) == pytest.approx(instructions / cycles)
    assert read("instructions_per_second", both) == pytest.approx(instructions / 0.1)
    assert read("counters_running_percent", both) == pytest.approx(100)


def test_kinds_of_core_that_a_group_was_on_at_once_add_up() -> None:
    at_once = of_perf(
        counted("task-clock", 1 * S, "ns"),
        counted("cpu_core/cycles/", 3e9, "count", 90.0),
        counted("cpu_atom/cycles/", 1e9, "count", 80.0),
    )
    assert read("clock_ghz", at_once) == pytest.approx(4.0)
    assert read("counters_running_percent", at_once) == 80


def test_cycles_of_user_space_alone_are_no_clock() -> None:
    user = of_perf(
        counted("task-clock", 1 * S, "ns"),
        counted("cycles:u", 1e9, "count"),
        counted("instructions:u", 2e9, "count"),
    )
    assert read("clock_ghz", user) == NOT_SUPPORTED
    assert read("instructions_per_cycle", user) == 2


def test_the_larger_of_the_stalls_counts_and_one_alone_is_enough() -> None:
    one_end = of_perf(
        counted("stalled-cycles-frontend", 300, "count"), counted("instructions", 1000, "count")
    )
    assert read("stalled_cycles_per_instruction", one_end) == pytest.approx(0.3)


def test_without_perf_the_kernels_accounts_make_a_rate() -> None:
    by_kernel = trial(
        {
            ("server", "kernel", "cpu-time"): counted("cpu-time", S / 4, "ns"),
            ("server", "kernel", "page-faults"): counted("page-faults", 50, "count"),
        }
    )
    assert read("page_faults_per_second", by_kernel) == pytest.approx(200)
    assert read("context_switches_per_second", by_kernel) == NOT_SUPPORTED


def test_the_server_is_timed_by_the_lab_and_the_client_by_its_load() -> None:
    timed = trial({}, window_ns=5 * S, client={"elapsed_ns": 2 * S})
    assert (read("elapsed_s", timed), read("elapsed_s", timed, "client")) == (5, 2)
    assert read("elapsed_s", trial({}), "client") == NOT_COUNTED
