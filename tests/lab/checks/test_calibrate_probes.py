"""The parts of a calibration that check the instruments of a trial."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from regatta.checks.calibrate.instruments import stopped, window
from regatta.checks.calibrate.instruments.stopped import Stalled, Stop, true_latencies_ns
from regatta.checks.calibrate.instruments.window import Counted, open_cell
from regatta.judge.statistics.percentiles import RequestLatencies
from regatta.record.metrics import P99, P999

MS = 1_000_000
S = 1_000 * MS
# 14 requests of 300 are due while the server stands still, from 10 s on.
STOP = Stop(begin_ns=12 * S, end_ns=12 * S + 1_400 * MS)
CELL = open_cell("epoll", "snapshot", 30.0, 10)


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
