"""Calibration: its parts are run, its instruments judged, and its result stored."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from regatta.checks.calibrate import goals, instruments, run
from regatta.checks.calibrate.goals import CalibrationPart, Context
from regatta.checks.calibrate.instruments import (
    OPEN_CELL,
    Counted,
    Stalled,
    Stop,
    judge_cpu,
    judge_end,
    judge_stop,
    judge_time,
    true_latencies_ns,
)
from regatta.errors import CalibrationError, RegattaError, UsageError
from regatta.judge.statistics.percentiles import RequestLatencies
from regatta.record.inputs import Calibration, Goal, to_plain
from regatta.record.metrics import P99, P999
from regatta.verbs import main as cli
from tests.lab.checks.calibrations import context


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def part(name: str, goals: list[Goal] | RegattaError, **changes: Any) -> CalibrationPart:
    def measure(_context: Context) -> list[Goal]:
        if isinstance(goals, RegattaError):
            raise goals
        return goals

    return replace(CalibrationPart(name, "does this", measure, 1.0), **changes)


GOALS = (
    Goal("false alarms", "3.65 to 6.35 %", "5.01 %", True, "of 1,000", 5.01),
    Goal("counters", "within 1 %", "no perf here", None),
)
GOOD = part("good", list(GOALS))


def test_a_part_that_fails_is_a_missed_goal_with_the_reason(tmp_path: Path) -> None:
    said: list[str] = []
    broken = part("broken", RegattaError("no\nnetwork"))
    found = run.run([GOOD, broken], context(tmp_path), said.append)
    assert [goal.met for goal in found.goals] == [True, None, False]
    assert found.goals[2].measured == "failed: no network"
    assert said == ["1/2 good: does this", "2/2 broken: does this"]


@pytest.mark.parametrize(
    ("only", "inject", "words"),
    [
        (["nothing"], None, "one of good, wrong"),
        ([], "nothing", "one of peek"),
        (["good"], "peek", "does not affect"),
    ],
)
def test_unknown_parts_and_errors_are_refused(
    only: list[str], inject: str | None, words: str
) -> None:
    parts = [GOOD, part("wrong", [], injected=("peek",))]
    with pytest.raises(UsageError, match=words):
        run.choose(parts, only, inject)


def test_show_without_a_calibration_says_what_to_run() -> None:
    shown = CliRunner().invoke(cli.app, ["calibrate", "--show"])
    assert "run `regatta calibrate`" in str(shown.exception)
    assert getattr(shown.exception, "exit_status", None) == 1
    with_more = CliRunner().invoke(cli.app, ["calibrate", "--show", "--quick"])
    assert isinstance(with_more.exception, UsageError)


# ---- The stored calibration: one file a machine, validated when read ----


def calibration(**changes: Any) -> Calibration:
    made = Calibration(1_760_000_000.0, 1200.0, "0.1.0", goals.machine(), GOALS)
    return replace(made, **changes)


def test_a_stored_calibration_of_this_machine_is_loaded_unchanged() -> None:
    assert goals.load() is None
    goals.save(calibration(machine={**goals.machine(), "cpu_model": "another"}))
    assert goals.load() is None
    goals.save(calibration())
    assert goals.load() == goals.for_ledger() == calibration()


def test_a_relative_state_folder_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert goals.path_for({}).parent == tmp_path / ".local/state/regatta"


def plain(**changes: Any) -> str:
    return json.dumps({**to_plain(calibration()), **changes})


def goal(**changes: Any) -> str:
    return plain(goals=[{**vars(GOALS[0]), **changes}])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "not JSON"),
        (plain()[:-20], "not JSON"),
        ("[" * 100_000, "recursion"),
        ("[]", "not an object"),
        (plain(version=1), "its version is 1 and not 2"),
        (plain(version="x" * 10_000), "version"),
        (plain(goals=[]), "goals"),
        (plain(goals=[1]), "`goals[1]`"),
        (plain(goals=[{"name": "only"}]), "`goals[1].goal`: field required"),
        (goal(met="yes"), "`goals[1].met`"),
        (goal(value=float("nan")), "`goals[1].value`"),
        (plain(taken_at="now"), "`taken_at`"),
        (plain(elapsed_s=1e300), "`elapsed_s`"),
        (plain(machine=3), "machine"),
        ("x" * (goals.MOST_BYTES + 1), "too large"),
        ("\udcff", "not a calibration"),
    ],
)
def test_a_damaged_file_is_a_one_line_error_and_stops_no_race(text: str, word: str) -> None:
    path = goals.save(calibration())
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(CalibrationError) as raised:
        goals.load()
    message = str(raised.value)
    assert word in message
    assert "regatta calibrate" in message
    assert "\n" not in message
    assert len(message) < 400
    assert goals.for_ledger() == message


def test_a_folder_that_cannot_be_written_is_a_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(CalibrationError, match="cannot write"):
        goals.save(calibration())


# ---- The instruments of a trial ----

MS = 1_000_000
S = 1_000 * MS
# 14 requests of 300 are due while the server stands still, from 10 s on.
STOP = Stop(begin_ns=12 * S, end_ns=12 * S + 1_400 * MS)
CELL = replace(OPEN_CELL, duration_s=30.0, rate=10)


def test_the_true_latencies_of_a_stop_are_computed() -> None:
    true = true_latencies_ns(CELL, 2 * S, STOP)
    assert len(true) == 300
    # Due at 12.0, 12.1 … 13.3 s; the first waits longest.
    assert true[true > 0].tolist() == [number * 100 * MS for number in range(14, 0, -1)]
    assert np.flatnonzero(true)[0] == 100


def answered(latencies: NDArray[Any]) -> RequestLatencies:
    return RequestLatencies(np.sort(latencies.astype(np.int64)), np.empty(0, np.int64))


def test_reported_percentiles_are_compared_with_the_truth() -> None:
    true = true_latencies_ns(CELL, 2 * S, STOP)
    omitted = np.sort(true)[:-12]
    for reported, met in ((true * 1.04 + 50_000, True), (true * 1.06, False), (omitted, False)):
        for metric in instruments.METRICS:
            assert judge_stop(Stalled(STOP, answered(reported), true), metric).met is met


def test_for_a_stop_to_the_end_no_percentile_may_be_below_the_truth() -> None:
    """The load takes 20 s; the server continues a second later."""
    cell, stop = replace(CELL, duration_s=20.0), Stop(begin_ns=12 * S, end_ns=21 * S)
    true = true_latencies_ns(cell, 0, stop)
    late = true[true > 0]
    known = RequestLatencies(np.full(len(true) - len(late), 50_000), late - 1 * S)
    for metric in instruments.END_METRICS:
        assert judge_end(Stalled(stop, known, true), metric).met is True
    for at_least in (np.empty(0, np.int64), late * 2):
        wrong = Stalled(stop, RequestLatencies(known.known, at_least), true)
        assert {judge_end(wrong, metric).met for metric in (P99, P999)} == {False}
    assert "over" in judge_end(Stalled(stop, known, true), P99).measured


@pytest.mark.parametrize(
    ("window_ms", "cpu_ms", "met"),
    [(1_005, 99.5, (True, True)), (999, 98.0, (False, False)), (1_011, 99.5, (False, True))],
)
def test_a_window_contains_its_requests_and_little_more(
    window_ms: int, cpu_ms: float, met: tuple[bool, bool]
) -> None:
    found = Counted(CELL, window_ms * MS, 1_000 * MS, cpu_ms * MS, 100 * MS, in_ticks=False)
    assert (judge_time(found).met, judge_cpu(found).met) == met


def test_cpu_time_in_ticks_is_too_coarse_to_judge_a_window() -> None:
    goal = judge_cpu(Counted(CELL, MS, MS, 86 * MS, 83 * MS, in_ticks=True))
    assert (goal.met, goal.value) == (None, None)
    assert "without a control group" in goal.measured
