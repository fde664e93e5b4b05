"""A trial that goes wrong is recorded with its reason; nothing hangs, nothing survives."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from pathlib import Path

import pytest

from regatta.errors import RegattaError, TrialError
from regatta.ledger.result import Result
from regatta.ledger.samples import HEADER, pack_samples
from regatta.machine import perf, placement
from regatta.machine.programs import discover
from regatta.race.events import Event, Finished, Started, TrialFinished
from regatta.race.options import Options
from regatta.race.race import begin, reopen
from regatta.study import parse_study
from regatta.study.plan import COUNTED, TIMED
from regatta.trial import load, serve, side, window
from regatta.trial.rig import Rig
from regatta.trial.trial import run_trial
from tests.lab import fake_programs

STUDY = """
name = "tiny"
[race]
blocks = 2
counted_blocks = 1
seed = 5
[placement]
kind = "loopback"
server_cpus = [0]
client_cpus = [0]
[[cells]]
designs = ["iterative", "select"]
connections = [3]
requests = 6
"""
MARK = "REGATTA_TEST_MARK"


@pytest.fixture(autouse=True)
def programs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    fake_programs.install(folder)
    monkeypatch.setenv("REGATTA_BIN", str(folder))
    monkeypatch.setenv(MARK, str(tmp_path))
    return folder


def survivors(mark: Path) -> list[str]:
    """The command lines of all processes, but this one, that a test has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"{MARK}={mark}".encode() in (path / "environ").read_bytes()
            if marked and int(path.name) != os.getpid():
                found.append((path / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return found


def rig(tmp_path: Path, place: placement.Placement, found: perf.Perf) -> Rig:
    return Rig(
        programs=discover(),
        placement=place,
        perf=found,
        events=("task-clock", "syscalls", "topdown"),
        warmup_rounds=1,
        scratch=tmp_path / "scratch",
    )


def run(tmp_path: Path, kind: str = TIMED, with_perf: bool = True) -> Result:
    study = parse_study(STUDY, fake_programs.DESIGNS)
    found = perf.probe(("task-clock", "syscalls")) if with_perf else perf.without_perf(None)
    with placement.make_placement("loopback", [0], [0]) as place:
        result = run_trial(rig(tmp_path, place, found), study.cells[0], kind)
    assert survivors(tmp_path) == []
    assert not (tmp_path / "scratch").exists()
    return result


@pytest.mark.parametrize("kind", [TIMED, COUNTED])
@pytest.mark.parametrize("with_perf", [True, False])
def test_a_trial_records_both_sides(tmp_path: Path, kind: str, with_perf: bool) -> None:
    result = run(tmp_path, kind, with_perf)
    assert (result.status, result.reason) == ("ok", None)
    assert (result.requests, result.answered, result.throughput_per_s) == (6, 6, 100.0)
    assert result.window_ns
    assert result.conditions["processes"] > 0
    keys = {(row.side, row.origin, row.counter.event) for row in result.counters}
    assert len(keys) == len(result.counters)
    wanted = set() if kind == TIMED else {"task-clock", "syscalls", "tma_retiring"}
    for name in ("server", "client"):
        found = {event for one, origin, event in keys if (one, origin) == (name, "perf")}
        assert found >= wanted
        assert bool(found) == bool(wanted)
        assert (name, "kernel", "cpu-time") in keys
    if not with_perf and kind != TIMED:
        states = {row.counter.state for row in result.counters if row.origin == "perf"}
        assert states == {"not supported"}


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("server-fails-to-start", "ended before it was ready: cannot listen: the moon is in the"),
        ("server-dies", "the server left"),
        ("server-stops-badly", "the server left with exit status 1: could not drain"),
        ("client-misses-one", r"1 of 6 requests failed \(1 timeout\)"),
        ("client-loses-a-sample", "5 samples for 6 requests"),
        ("client-babbles", "the client printed no JSON"),
        ("client-dies", "the client ended before it was done: out of luck"),
    ],
)
@pytest.mark.parametrize("with_perf", [True, False])
def test_a_fault_is_the_reason_of_the_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str, with_perf: bool
) -> None:
    monkeypatch.setenv("FAKE", fault)
    result = run(tmp_path, with_perf=with_perf)
    assert result.status == "failed"
    assert result.counters == []
    assert re.search(reason, result.reason or ""), result.reason


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("server-never-ready", "the server was not ready within"),
        ("server-never-stops", "the server did not end within"),
        ("client-never-done", "the client was not done within"),
    ],
)
def test_whatever_does_not_come_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    monkeypatch.setenv("FAKE", fault)
    for module in (window, serve):
        monkeypatch.setattr(module, "READY_TIMEOUT_S", 2)
    monkeypatch.setattr(load, "LOAD_TIMEOUT_S", 2)
    monkeypatch.setattr(side, "STOP_TIMEOUT_S", 2)
    started = time.monotonic()
    result = run(tmp_path)
    assert result.status == "failed"
    assert reason in (result.reason or "")
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("data", [b"", b"x" * 32, b"RGSAMPL1" + b"\0" * 24])
def test_samples_that_are_not_whole_are_refused(data: bytes) -> None:
    with pytest.raises(TrialError, match="the client wrote"):
        pack_samples([(data, 1)])


def test_samples_that_were_cut_are_refused() -> None:
    data = HEADER.pack(b"RGSAMPL1", 32, 0, 2, 0) + b"\0" * 63
    with pytest.raises(TrialError, match="samples"):
        pack_samples([(data, 2)])


def rows(folder: Path, query: str) -> list[tuple[object, ...]]:
    return sqlite3.connect(folder / "ledger.sqlite").execute(query).fetchall()


def test_a_race_tells_what_happens_and_leaves_a_complete_ledger(tmp_path: Path) -> None:
    events: list[Event] = []
    study = parse_study(STUDY, fake_programs.DESIGNS)
    folder = begin(study, Options(out=tmp_path / "race"), discover(), events.append)
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert sum(isinstance(event, TrialFinished) for event in events) == 6
    planned = rows(folder, "SELECT block, position, cell_id, kind FROM plan ORDER BY 1, 2")
    done = rows(folder, "SELECT block, position, cell_id, kind FROM trial ORDER BY 1, 2")
    assert planned == done
    assert len(done) == 6
    keys = {key for (key,) in rows(folder, "SELECT key FROM environment")}
    assert {"cpu_model", "cpus", "kernel", "mitigations", "governor", "versions"} <= keys
    assert {"perf_version", "placement", "seed"} <= keys
    assert rows(folder, "SELECT value FROM meta WHERE key = 'finished_at'")


class StopError(Exception):
    """Ends a race from within, as a signal would."""


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_stopped_race_goes_on_where_it_was(tmp_path: Path, after: int) -> None:
    def stop(event: Event) -> None:
        if isinstance(event, TrialFinished) and event.number > after:
            raise StopError

    study = parse_study(STUDY, fake_programs.DESIGNS)
    folder = tmp_path / "race"
    with pytest.raises(StopError):
        begin(study, Options(out=folder), discover(), stop)
    kept = rows(folder, "SELECT * FROM trial")
    assert len(kept) == after + 1
    events: list[Event] = []
    reopen(folder, None, discover(), events.append)
    assert rows(folder, "SELECT * FROM trial")[: after + 1] == kept
    assert rows(folder, "SELECT count(*), count(DISTINCT block * 100 + cell_id) FROM trial") == [
        (6, 6)
    ]
    reopen(folder, study, discover(), events.append)
    assert rows(folder, "SELECT count(*) FROM trial") == [(6,)]


def test_a_race_that_is_being_raced_is_not_raced_twice(tmp_path: Path) -> None:
    study = parse_study(STUDY, fake_programs.DESIGNS)
    folder = tmp_path / "race"
    refused: list[str] = []

    def again(event: Event) -> None:
        if isinstance(event, TrialFinished) and not refused:
            with pytest.raises(RegattaError, match="another regatta is racing") as error:
                reopen(folder, None, discover(), lambda _: None)
            refused.append(str(error.value))

    begin(study, Options(out=folder), discover(), again)
    assert refused
    assert rows(folder, "SELECT count(*) FROM trial") == [(6,)]


def test_a_race_of_another_study_is_not_resumed(tmp_path: Path) -> None:
    study = parse_study(STUDY, fake_programs.DESIGNS)
    folder = begin(study, Options(out=tmp_path / "race"), discover(), lambda _: None)
    other = parse_study(STUDY.replace("seed = 5", "seed = 6"), fake_programs.DESIGNS)
    with pytest.raises(RegattaError, match="another study"):
        reopen(folder, other, discover(), lambda _: None)


def test_a_race_whose_first_trials_all_fail_stops_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE", "server-fails-to-start")
    study = parse_study(STUDY, fake_programs.DESIGNS)
    with pytest.raises(RegattaError, match="first 5 trials all failed.*moon"):
        begin(study, Options(out=tmp_path / "race"), discover(), lambda _: None)
