"""A trial that goes wrong is recorded with its reason; nothing hangs, nothing survives."""

import os
import re
import time
from pathlib import Path
from types import ModuleType

import pytest

from regatta.errors import RegattaError, TrialError
from regatta.measure.perf import probe
from regatta.measure.places import placement
from regatta.measure.race.events import Event, Finished, Started, TrialFinished
from regatta.measure.trial import measure, program
from regatta.record.records import COUNTED_TRIAL, TIMED, Trial
from regatta.record.samples import HEADER, check_samples
from tests.lab import fake_races
from tests.lab.needs import CPUS, NEEDS_TWO_CPUS
from tests.ledgers import rows
from tests.processes import marked

pytestmark = pytest.mark.usefixtures("programs_folder")


def run(tmp_path: Path, kind: str = TIMED, with_perf: bool = True) -> Trial:
    study = fake_races.parse(fake_races.TINY)
    found = probe(("task-clock", "syscalls")) if with_perf else None
    events = ("task-clock", "syscalls", "topdown")
    result = fake_races.run_here(tmp_path, study.cells[0], kind, found, events=events)
    assert marked(tmp_path) == []
    assert not (tmp_path / "scratch").exists()
    return result


@pytest.mark.parametrize("kind", [TIMED, COUNTED_TRIAL])
@pytest.mark.parametrize("with_perf", [True, False])
def test_a_trial_records_both_sides(tmp_path: Path, kind: str, with_perf: bool) -> None:
    result = run(tmp_path, kind, with_perf)
    assert (result.status, result.reason) == ("ok", None)
    assert (result.requests, result.answered, result.throughput_per_s) == (6, 6, 100.0)
    assert result.window_ns
    assert result.conditions["processes"] > 0
    keys = result.counters.keys()
    wanted = set() if kind == TIMED else {"task-clock", "syscalls", "tma_retiring"}
    for name in ("server", "client"):
        found = {event for one, origin, event in keys if (one, origin) == (name, "perf")}
        assert found >= wanted
        assert bool(found) == bool(wanted)
        assert (name, "kernel", "cpu-time") in keys
    if not with_perf and kind != TIMED:
        states = {one.state for (_, origin, _), one in result.counters.items() if origin == "perf"}
        assert states == {"not supported"}


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("server-fails-to-start", "exited before it was ready: cannot listen: the moon is in the"),
        ("server-dies", "the server exited"),
        ("server-stops-badly", "the server exited with status 1: could not drain"),
        ("client-misses-one", r"1 of 6 requests failed \(1 timeout\)"),
        ("server-drops-idle", "the server dropped idle connections, 1 times in all"),
        ("server-drops-slow", "the server dropped slow connections, 1 times in all"),
        ("client-loses-a-sample", "5 samples for 6 requests"),
        ("client-babbles", "the client printed no JSON"),
        ("client-dies", "the client exited before it was done: out of luck"),
    ],
)
@pytest.mark.parametrize("with_perf", [True, False])
def test_a_fault_is_the_reason_of_the_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str, with_perf: bool
) -> None:
    monkeypatch.setenv("FAKE", fault)
    result = run(tmp_path, with_perf=with_perf)
    assert result.status == "failed"
    assert result.counters == {}
    assert re.search(reason, result.reason or ""), result.reason


@pytest.mark.parametrize(
    ("fault", "limit", "reason"),
    [
        ("server-never-ready", (program, "READY_TIMEOUT_S", 2), "the server was not ready within"),
        ("server-never-stops", (program, "STOP_TIMEOUT_S", 2), "the server did not end within"),
        ("client-never-done", (measure, "load_timeout_s", lambda _: 2), "the client was not done"),
    ],
)
def test_whatever_does_not_come_is_given_up(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    limit: tuple[ModuleType, str, object],
    reason: str,
) -> None:
    """What does come has its usual time: on a busy machine a program may take 2 s to start."""
    monkeypatch.setenv("FAKE", fault)
    monkeypatch.setattr(*limit)
    started = time.monotonic()
    result = run(tmp_path)
    assert result.status == "failed"
    assert reason in (result.reason or "")
    assert time.monotonic() - started < 60, "what does not come takes 600 s"


CUT = HEADER.pack(b"RGSAMPL1", 32, 0, 2, 0) + b"\0" * 63


@pytest.mark.parametrize("data", [b"", b"x" * 32, b"RGSAMPL1" + b"\0" * 24, CUT])
def test_samples_that_are_not_whole_are_refused(data: bytes) -> None:
    with pytest.raises(TrialError, match="the client wrote"):
        check_samples(data, 2)


def test_a_race_tells_what_happens_and_leaves_a_complete_ledger(tmp_path: Path) -> None:
    events: list[Event] = []
    folder = fake_races.race(fake_races.TINY, tmp_path / "race", events.append)
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert sum(isinstance(event, TrialFinished) for event in events) == 6
    planned = rows(folder, "SELECT block, position, cell_id, kind FROM plan ORDER BY 1, 2")
    done = rows(folder, "SELECT block, position, cell_id, kind FROM trial ORDER BY 1, 2")
    assert planned == done
    assert len(done) == 6
    assert rows(folder, "SELECT value FROM meta WHERE key = 'finished_at'")


def test_a_race_that_is_being_raced_is_not_raced_twice(tmp_path: Path) -> None:
    study = fake_races.parse(fake_races.TINY)
    folder = tmp_path / "race"
    refused: list[str] = []

    def again(event: Event) -> None:
        if isinstance(event, TrialFinished) and not refused:
            with pytest.raises(RegattaError, match="another race is running") as error:
                fake_races.resume(folder)
            refused.append(str(error.value))

    fake_races.race(study, folder, again)
    assert refused
    assert rows(folder, "SELECT count(*) FROM trial") == [(6,)]


def test_only_a_race_of_the_same_study_is_resumed_and_ends_at_once_if_it_is_complete(
    tmp_path: Path,
) -> None:
    folder = fake_races.race(fake_races.TINY, tmp_path / "race")
    events: list[Event] = []
    fake_races.resume(folder, events.append, fake_races.parse(fake_races.TINY))
    assert [type(event) for event in events] == [Finished]
    assert rows(folder, "SELECT count(*) FROM trial") == [(6,)]
    other = fake_races.parse(fake_races.TINY.replace("seed = 5", "seed = 6"))
    with pytest.raises(RegattaError, match="another study"):
        fake_races.resume(folder, study=other)


def test_a_race_whose_first_trials_all_fail_stops_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE", "server-fails-to-start")
    with pytest.raises(RegattaError, match="first 5 trials all failed.*moon"):
        fake_races.race(fake_races.TINY, tmp_path / "race")


@NEEDS_TWO_CPUS
@pytest.mark.parametrize("fault", ["", "client-never-done"])
def test_the_lab_may_run_everywhere_again_however_a_window_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv("FAKE", fault)
    monkeypatch.setattr(measure, "load_timeout_s", lambda _: 2 if fault else 60)
    with placement.make_placement("loopback", CPUS[:1], CPUS[-1:]) as place:
        setup = fake_races.trial_setup(tmp_path, place)
        result = fake_races.run_trial(setup, fake_races.parse(fake_races.TINY).cells[0], TIMED)
    assert result.status == ("failed" if fault else "ok")
    assert os.sched_getaffinity(0) == set(CPUS)
