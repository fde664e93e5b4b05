"""Somebody's own server in a race: started, found ready, counted, stopped; and when it is not."""

import json
import sys
from pathlib import Path

import pytest

from regatta.errors import StudyError
from regatta.measure.trial import program
from regatta.record.records import SERVER, Trial
from regatta.record.study import Study
from tests.lab import fake_races

# A master with a worker that burns CPU time when it is asked, as nginx has; FAULT misbehaves.
SERVER_TEXT = """
import os, signal, socket, sys, time
fault = os.environ.get("FAULT", "")
if fault == "dies":
    print("the moon is in the way", file=sys.stderr)
    sys.exit(3)
if fault == "never":
    print("thinking", flush=True)
    time.sleep(600)
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
if fault == "stops-badly":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(5))
worker = os.fork()
if worker == 0:
    if fault == "strays":
        os.sched_setaffinity(0, os.cpu_count() and range(os.cpu_count()))
    while True:
        connection, _ = listener.accept()
        if connection.recv(9):
            if fault == "midway":
                print("out of luck", file=sys.stderr, flush=True)
                os.kill(os.getppid(), signal.SIGKILL)
                os._exit(1)
            began = time.process_time()
            while time.process_time() < began + 0.1:
                pass
            connection.send(b"x")
        connection.close()
print("now serving", flush=True)
signal.pause()
"""
LINE = 'ready = "line"\nready_line = "now serving"'


@pytest.fixture(autouse=True)
def lab(programs_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    monkeypatch.setenv("FAKE", "contender")
    monkeypatch.setattr(program, "READY_TIMEOUT_S", 10)
    monkeypatch.setattr(program, "STOP_TIMEOUT_S", 10)


def study(folder: Path, keys: str = "") -> Study:
    cells = 'designs = ["iterative"]\nconnections = 2\nrequests = 4'
    return fake_races.of_server(SERVER_TEXT, folder, cells, keys)


def run(folder: Path, keys: str = "") -> Trial:
    raced = study(folder, keys)
    (cell,) = (cell for cell in raced.cells if cell.contender == "mine")
    more = {"contenders": raced.contenders, "folder": raced.folder}
    return fake_races.run_here(folder, cell, **more)


def cpu_ns(result: Trial) -> float:
    return result.counters[SERVER, "kernel", "cpu-time"].value


@pytest.mark.parametrize("keys", ["", LINE, LINE + '\nstop_signal = "SIGKILL"'])
def test_it_races_and_its_workers_are_counted(tmp_path: Path, keys: str) -> None:
    result = run(tmp_path, keys)
    assert (result.status, result.reason) == ("ok", None)
    assert cpu_ns(result) >= 100_000_000, "the worker's, which the master has not reaped"
    assert result.server == {"output": ["now serving"]}


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("dies", "the server exited before it was ready: the moon is in the way"),
        ("never", "the server was not ready within 5 s: thinking"),
        ("midway", "the server died during the trial"),
        ("strays", "which is not the server's"),
        ("stops-badly", "the server exited with status 5"),
    ],
)
def test_what_goes_wrong_is_in_the_trial_with_its_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    if fault == "never":
        # In which Python starts and prints a line, on a busy machine too.
        monkeypatch.setattr(program, "READY_TIMEOUT_S", 5)
    monkeypatch.setenv("FAULT", fault)
    result = run(tmp_path)
    assert result.status == "failed"
    assert reason in (result.reason or "")
    said = {"dies": "the moon is in the way", "never": "thinking", "midway": "out of luck"}
    if fault in said:
        assert said[fault] in (result.reason or "")
        assert said[fault] in json.dumps(result.server)


def test_a_missing_program_is_reported_before_anything_starts(tmp_path: Path) -> None:
    raced = fake_races.parse(study(tmp_path).toml.replace(sys.executable, "nowhere"), tmp_path)
    with pytest.raises(StudyError, match=r"contenders\.mine\.command.*nowhere.*build"):
        fake_races.race(raced, tmp_path / "race")
    assert not (tmp_path / "race").exists()
