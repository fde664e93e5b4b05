"""The parts of a calibration that check the instruments of a trial."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from regatta.analysis.statistics.request_latencies import RequestLatencies
from regatta.calibrate.goals import Context
from regatta.calibrate.instruments import counters, stopped, window
from regatta.calibrate.instruments.counters import CPU, FAULTS, SWITCHES, Accounts, weigh
from regatta.calibrate.instruments.setup import burst_cell, open_cell
from regatta.calibrate.instruments.stopped import Stalled, Stop, true_latencies_ns
from regatta.calibrate.instruments.taskstats import Ended
from regatta.calibrate.instruments.window import Counted
from regatta.ledger.metrics import P99, P999
from regatta.machine.perf.stat import without_perf
from regatta.machine.programs import discover
from regatta.race.options import Options
from tests.lab.fake_records import reading

MS = 1_000_000
S = 1_000 * MS
# 14 requests of 300 are due while the server stands still, from 10 s on.
STOP = Stop(begin_ns=12 * S, end_ns=12 * S + 1_400 * MS)
CELL = open_cell("epoll", "snapshot", 30.0, 10)


def no_race(*_: object) -> Path:
    raise AssertionError("these parts run no race")


def test_the_true_latencies_of_a_stop_are_computed() -> None:
    true = true_latencies_ns(CELL, 2 * S, STOP)
    assert len(true) == 300
    waiting = np.sort(true[true > 0])
    # Due at 12.0, 12.1 … 13.3 s; the first waits longest.
    assert waiting.tolist() == [number * 100 * MS for number in range(1, 15)]
    assert np.flatnonzero(true)[0] == 100


def test_reported_percentiles_are_compared_with_the_truth() -> None:
    true = true_latencies_ns(CELL, 2 * S, STOP)
    near = Stalled(STOP, answered(true * 1.04 + 50_000), true)
    far = Stalled(STOP, answered(true * 1.06), true)
    omitted = Stalled(STOP, answered(np.sort(true)[:-12]), true)
    for metric in stopped.METRICS:
        assert stopped.judge(near, metric).met is True
        assert stopped.judge(far, metric).met is False
        assert stopped.judge(omitted, metric).met is False


def answered(latencies: NDArray[Any]) -> RequestLatencies:
    return RequestLatencies(np.sort(latencies.astype(np.int64)), np.empty(0, np.int64))


def test_for_a_stop_to_the_end_no_percentile_may_be_below_the_truth() -> None:
    """The load takes 20 s; the server continues a second later."""
    cell, stop = replace(CELL, duration_s=20.0), Stop(begin_ns=12 * S, end_ns=21 * S)
    true = true_latencies_ns(cell, 0, stop)
    late = true[true > 0]
    known = RequestLatencies(np.full(len(true) - len(late), 50_000), late - 1 * S)
    for metric in stopped.END_METRICS:
        assert stopped.judge_end(Stalled(stop, known, true), metric).met is True
    for wrong in (
        RequestLatencies(known.known, np.empty(0, np.int64)),
        RequestLatencies(known.known, late * 2),
    ):
        goals = [stopped.judge_end(Stalled(stop, wrong, true), metric) for metric in (P99, P999)]
        assert {goal.met for goal in goals} == {False}
    assert "over" in stopped.judge_end(Stalled(stop, known, true), P99).measured


def usage(switches: int, faults: int) -> dict[str, int]:
    return {
        "voluntary_switches": switches,
        "involuntary_switches": 0,
        "minor_faults": faults,
        "major_faults": 0,
    }


def weighed(ended: list[Ended], own: dict[str, int], children: dict[str, int]) -> dict[str, float]:
    summary: dict[str, Any] = {"usage": {"serving": {"self": own, "children": children}}}
    first = reading(context_switches=10, charged_ns=0)
    last = reading(context_switches=30, charged_ns=9_000, clock_ns=4_000, thread_run_ns=4_000)
    ends = Accounts(first, 5), Accounts(last, 7)
    reported = ({CPU: 8_910.0, SWITCHES: 1.0, FAULTS: 1.0}, summary)
    found = weigh(burst_cell("epoll", 3), 50, ends, ended, reported)
    assert found.off_percent(CPU) == pytest.approx(-1.0)
    return found.charged


def test_accounts_of_living_dead_and_reaped_tasks_are_summed() -> None:
    nothing = usage(0, 0)
    thread = Ended(parent=9, process=50, run_ns=100, page_faults=3)
    child = Ended(parent=50, process=60, run_ns=100, page_faults=3)
    strange = Ended(parent=9, process=70, run_ns=100, page_faults=3)
    assert weighed([strange], usage(99, 0), nothing) == {SWITCHES: 20, FAULTS: 2, CPU: 9_000}
    # A thread's end is a switch that no account holds.
    assert weighed([thread], usage(25, 0), nothing)[SWITCHES] == 26
    assert weighed([thread], usage(25, 0), nothing)[FAULTS] == 5
    # A child's whole account is its parent's, the end included.
    assert weighed([child], usage(99, 0), usage(4, 6)) == {SWITCHES: 24, FAULTS: 8, CPU: 9_000}


def test_a_counter_off_by_over_one_percent_misses_its_goal() -> None:
    found = counters.CounterCheck(
        design="epoll",
        requests=10,
        ended=0,
        counted={SWITCHES: 102, FAULTS: 0, CPU: 9_910},
        charged={SWITCHES: 100, FAULTS: 0, CPU: 10_000},
        clock_ns=9_800,
        recorded_ns=9_000,
    )
    assert counters.judge(found, SWITCHES).met is False
    assert counters.judge(found, FAULTS).met is True
    assert counters.judge(found, CPU).met is True
    assert "-2.00 %" in counters.judge(found, CPU).detail
    assert counters.judge(replace(found, counted={FAULTS: 1}), FAULTS).met is False


def test_a_counter_that_counted_nothing_is_not_measured() -> None:
    found = counters.CounterCheck("epoll", 10, 0, {CPU: 10_000}, {FAULTS: 3, CPU: 10_000}, 9e3, 9e3)
    goal = counters.judge(found, FAULTS)
    assert (goal.name, goal.met) == ("page faults of epoll", None)
    assert goal.measured == "not measured: perf counted no page-faults here"
    assert counters.judge(found, CPU).met is True


def test_without_rights_counters_are_not_measured_and_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counters, "probe", lambda _: without_perf("perf is not installed"))
    context = Context(discover(), tmp_path, Options(), True, None, lambda _: None, no_race)
    goals = counters.run(context)
    assert len(goals) == 9
    assert {goal.met for goal in goals} == {None}
    assert all("perf is not installed" in goal.measured for goal in goals)


@pytest.mark.parametrize(
    ("window_ms", "cpu_ms", "met"),
    [(1_005, 99.5, (True, True)), (999, 98.0, (False, False)), (1_011, 99.5, (False, True))],
)
def test_a_window_contains_its_requests_and_little_more(
    window_ms: int, cpu_ms: float, met: tuple[bool, bool]
) -> None:
    found = Counted(CELL, window_ms * MS, 1_000 * MS, cpu_ms * MS, 100 * MS, in_ticks=False)
    assert (window.judge_time(found).met, window.judge_cpu(found).met) == met


def test_cpu_time_in_ticks_is_too_coarse_to_judge_a_window() -> None:
    goal = window.judge_cpu(Counted(CELL, MS, MS, 86 * MS, 83 * MS, in_ticks=True))
    assert (goal.met, goal.value) == (None, None)
    assert "without a control group" in goal.measured
