"""Trials of whole processes: counted from start to end, idling included, and gone with the lab."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from regatta.measure.perf import Perf, probe
from regatta.record.cell import Cell
from regatta.record.perf_output import read_counters
from regatta.record.records import COUNTED_TRIAL, TIMED, Trial
from tests.lab import fake_races
from tests.processes import commands, marked
from tests.waiting import wait_until

STUDY = """
name = "whole"
[race]
seed = 5
[placement]
kind = "loopback"
[contenders.mine]
command = "{python} -c 'import socket,sys,signal; l=socket.create_server((\\"{host}\\",{port})); \
signal.pause()'"
[[cells]]
designs = ["iterative"]
contenders = ["mine"]
connections = [3]
scope = "process"
dialect = "http"
linger_s = 0.3
"""
EVENTS = ("task-clock", "page-faults")
pytestmark = pytest.mark.usefixtures("programs_folder")
LAB = """
import sys
from pathlib import Path
from dataclasses import replace
from tests.lab.measure import test_whole
test_whole.race(Path(sys.argv[1]), replace(test_whole.cells()[0], linger_s=60), "timed", True)
"""


def cells() -> tuple[Cell, ...]:
    text = STUDY.replace("{python}", sys.executable)
    return fake_races.parse(text).cells


def race(tmp_path: Path, cell: Cell, kind: str, with_perf: bool) -> Trial:
    found = probe(EVENTS) if with_perf else Perf()
    study = fake_races.parse(STUDY.replace("{python}", sys.executable))
    more = {"events": EVENTS, "contenders": study.contenders}
    return fake_races.run_here(tmp_path, cell, kind, found, **more)


@pytest.mark.parametrize("kind", [TIMED, COUNTED_TRIAL])
@pytest.mark.parametrize("with_perf", [True, False])
def test_all_of_a_process_is_counted_whatever_the_kind(
    tmp_path: Path, kind: str, with_perf: bool
) -> None:
    result = race(tmp_path, cells()[0], kind, with_perf)
    assert (result.status, result.reason) == ("ok", None)
    assert (result.requests, result.answered) == (3, 3)
    assert result.window_ns
    assert result.window_ns > 0.3e9
    found = result.counters
    kernel = found["server", "kernel", "cpu-time"].value or 0
    assert kernel > 4e6, "the start of a Python program is part of its life"
    for side in ("server", "client"):
        clock = found[side, "perf", "task-clock"]
        assert clock.state == ("counted" if with_perf else "not supported")
    if with_perf:
        clock_ns = found["server", "perf", "task-clock"].value or 0
        # perf counts what a hypervisor took meanwhile, the kernel's account does not.
        assert 0.5 * kernel < clock_ns < 5 * kernel
    assert set(result.printed) == ({"server", "client"} if with_perf else set())
    for side, text in result.printed.items():
        assert text.startswith("# started on")
        (clock,) = read_counters(text, ("task-clock",))
        assert clock == found[side, "perf", "task-clock"]
    assert marked(tmp_path) == []


@pytest.mark.parametrize("with_perf", [True, False])
@pytest.mark.parametrize(("number", "taskset"), [(0, True), (1, True), (1, False)])
def test_taskset_may_be_counted_too_and_a_contender_die_by_the_signal(
    tmp_path: Path, number: int, taskset: bool, with_perf: bool
) -> None:
    cell = replace(cells()[number], counts_taskset=taskset)
    result = race(tmp_path, cell, TIMED, with_perf)
    assert (result.status, result.reason) == ("ok", None)
    assert marked(tmp_path) == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("server-fails-to-start", "exited before it was ready: cannot listen"),
        ("server-dies", "the server exited"),
        ("server-stops-badly", "exited with status 1: could not drain"),
        ("client-loses-a-sample", "samples"),
        ("client-babbles", "the client printed no JSON"),
    ],
)
@pytest.mark.parametrize("with_perf", [True, False])
def test_a_fault_of_a_whole_process_is_its_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, words: str, with_perf: bool
) -> None:
    monkeypatch.setenv("FAKE", fault)
    result = race(tmp_path, cells()[0], TIMED, with_perf)
    assert result.status == "failed"
    assert words in (result.reason or "")
    assert marked(tmp_path) == []


def test_a_whole_process_ends_when_the_lab_is_killed(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[3]
    lab = subprocess.Popen([sys.executable, "-c", LAB, str(tmp_path)], cwd=root, env=os.environ)
    try:
        wait_until(
            lambda: any("--design" in line for line in commands(marked(tmp_path))), "no server"
        )
        time.sleep(0.5)
    finally:
        lab.send_signal(signal.SIGKILL)
        lab.wait()
    wait_until(lambda: marked(tmp_path) == [], "something has survived")
