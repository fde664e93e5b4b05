"""A window is opened and closed where the server is at rest: all that a load caused is in it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from regatta.judge.analyse import analyse
from regatta.measure.accounts.cgroup import ControlGroup
from regatta.measure.perf import Perf, probe
from regatta.measure.places import placement
from regatta.measure.trial import idle_wait
from regatta.measure.trial.idle_wait import away_from, wait_until_idle
from regatta.record.read import read
from regatta.record.records import COUNTED_TRIAL, SERVER, TIMED, Trial
from regatta.show.notes import notes
from tests.lab import fake_races, synthetic
from tests.ledgers import change

BURNS_S = 0.4
# Answers at once, and works when the client has gone: itself, in a thread, or in a child.
SERVER_TEXT = f"""
import os, socket, sys, threading, time
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
how = os.environ["BURN"]
def burn():
    began = time.thread_time()
    while time.thread_time() < began + {BURNS_S}: pass
def spin():
    while True: pass
if how == "always":
    threading.Thread(target=spin, daemon=True).start()
while True:
    connection, _ = listener.accept()
    while connection.recv(9):
        connection.send(b"x")
    connection.close()
    if how == "itself": burn()
    if how == "thread": threading.Thread(target=burn).start()
    if how == "child":
        child = os.fork()
        if child == 0:
            burn()
            os._exit(0)
        os.waitpid(child, 0)
"""


@pytest.fixture(autouse=True)
def lab(programs_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    monkeypatch.setenv("FAKE", "contender")
    # Whatever else runs here: it comes to rest in the end.
    monkeypatch.setattr(idle_wait, "WITHIN_S", 30.0)


def run(folder: Path, kind: str = TIMED, grouped: bool = True) -> Trial:
    raced = fake_races.of_server(SERVER_TEXT, folder, "connections = 1\nrequests = 1")
    found = Perf() if kind == TIMED else probe(("task-clock",))
    with placement.make_placement("loopback", [0], [0]) as place:
        if not grouped:
            place.server = replace(place.server, groups=None)
        setup = fake_races.trial_setup(
            folder, place, found, contenders=raced.contenders, folder=raced.folder
        )
        result = fake_races.run_trial(setup, raced.cells[0], kind)
    assert (result.status, result.reason) == ("ok", None)
    return result


def server_s(result: Trial, origin: str = "kernel", event: str = "cpu-time") -> float:
    return result.counters[SERVER, origin, event].value / 1e9


@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("how", ["itself", "thread", "child"])
def test_what_a_server_does_after_its_last_answer_is_charged_and_the_warm_ups_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, grouped: bool
) -> None:
    monkeypatch.setenv("BURN", how)
    result = run(tmp_path, grouped=grouped)
    # Of a child that was reaped a clock is told in ticks.
    assert 0.95 * BURNS_S < server_s(result) < 1.5 * BURNS_S
    assert result.conditions["rest_ms"] >= 0.95 * BURNS_S * 1000
    assert result.conditions["restless_before"] == result.conditions["restless_after"] == 0


def test_perf_counts_until_the_server_is_at_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not probe(("task-clock",)).by_group:
        pytest.skip("perf cannot follow control groups here")
    monkeypatch.setenv("BURN", "thread")
    result = run(tmp_path, COUNTED_TRIAL)
    assert 0.95 * BURNS_S < server_s(result, "perf", "task-clock") < 1.5 * BURNS_S


def test_one_that_was_at_work_before_the_load_is_charged_up_to_the_last_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle_wait, "WITHIN_S", 2.0)
    monkeypatch.setenv("BURN", "always")
    result = run(tmp_path)
    assert (result.conditions["restless_before"], result.conditions["restless_after"]) == (1, 0)
    assert 0 < server_s(result) < 1.0, "two seconds more were not waited for"


def test_one_that_is_still_at_work_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # At the opening the warm-up's work is waited for; at the closing nothing is.
    real = idle_wait.wait_until_idle
    waits: list[float] = [30.0, 0.0]

    def impatient(*server: object) -> idle_wait.IdleWait:
        monkeypatch.setattr(idle_wait, "WITHIN_S", waits.pop(0))
        return real(*server)

    monkeypatch.setattr("regatta.measure.trial.side.wait_until_idle", impatient)
    monkeypatch.setenv("BURN", "itself")
    result = run(tmp_path)
    assert (result.conditions["restless_before"], result.conditions["restless_after"]) == (0, 1)


@contextmanager
def program(command: list[str]) -> Iterator[int]:
    """Runs until it has printed a line and then to the end of the block."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


def test_one_thread_of_many_that_runs_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    sleepers = (
        "import threading, time\n"
        "def spin():\n    while True: pass\n"
        "for _ in range(20): threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "{more}\nprint(flush=True)\ntime.sleep(600)"
    )
    with program([sys.executable, "-c", sleepers.format(more="")]) as pid:
        assert wait_until_idle(pid, None).found
    monkeypatch.setattr(idle_wait, "WITHIN_S", 0.3)
    spinner = sleepers.format(more="threading.Thread(target=spin).start()")
    with program([sys.executable, "-c", spinner]) as pid:
        assert not wait_until_idle(pid, None).found


def test_all_threads_in_a_group_are_looked_at(group: ControlGroup) -> None:
    code = "import threading, time\n[threading.Thread(target=time.sleep, args=(600,)).start()"
    code += " for _ in range(3)]\nprint(flush=True)"
    with program(group.entering([sys.executable, "-c", code])) as pid:
        assert len(list(idle_wait.threads(pid, group))) == 4
        assert wait_until_idle(pid, group).found


def test_the_lab_looks_from_other_cpus_than_the_servers() -> None:
    own = os.sched_getaffinity(0)
    some = {min(own)}
    with away_from(some):
        assert os.sched_getaffinity(0) == (own - some or own)
    assert os.sched_getaffinity(0) == own
    with away_from(own):
        assert os.sched_getaffinity(0) == own


def test_the_report_names_servers_that_were_not_idle(tmp_path: Path) -> None:
    def told() -> list[str]:
        return [note.sentence for note in notes(analyse(read(path))) if "not idle" in note.sentence]

    path = synthetic.make(tmp_path / "ledger.sqlite", connections=[10], requests=40)
    assert told() == []
    change(
        path,
        "UPDATE trial SET conditions = json_set(conditions, '$.restless_after', 2) WHERE"
        " block IN (3, 4) AND cell_id = (SELECT id FROM cell WHERE contender = 'select')",
    )
    (sentence,) = told()
    assert sentence.startswith(
        "In 2 trials of 36 the server was not idle when the window opened or closed (select)"
    )
