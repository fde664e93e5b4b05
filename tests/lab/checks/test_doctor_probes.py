"""The probes of the doctor measure known effects, and levels follow from their intervals."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from regatta.checks.doctor.bench import (
    ProbeError,
    answer,
    ask,
    extra_cost,
    mean,
    worker,
)
from regatta.checks.doctor.cpus import MEASURE_IT
from regatta.checks.doctor.examine import CHECKS, examine, measure
from regatta.checks.doctor.finding import (
    FINE,
    MINOR,
    SERIOUS,
    Effect,
    Finding,
    RaceSetup,
    level_of,
)
from regatta.checks.doctor.worker import let
from tests.lab import fake_machines as machines
from tests.processes import is_gone
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[3]
LOOPBACK = RaceSetup((0,), (1,), "loopback")
CPU = min(os.sched_getaffinity(0))


def effect(low: float, high: float, unit: str = "%") -> Effect:
    return Effect((low + high) / 2, low, high, what="something", unit=unit, samples=10)


SMALL, LARGE, UNSURE = effect(0.1, 0.4), effect(20, 30), effect(0.5, 9)


def bench(found: Effect) -> Any:
    """A bench on which every probe measures this effect."""
    probes = ("others", "unseen", "neighbour", "ramp", "wake")
    return SimpleNamespace(**{probe: [found] for probe in probes})


def measured(kind: Callable[[], machines.Files], folder: Path, found: Effect) -> dict[str, Finding]:
    machine = machines.build(kind(), folder)
    findings = examine(machine, LOOPBACK, machines.second(machine))
    return {finding.name: finding for finding in measure(findings, bench(found))}


@pytest.mark.parametrize(
    ("low", "high", "level"),
    [
        (0.1, 0.4, FINE),
        (20, 30, SERIOUS),
        (0.5, 9, MINOR),
        (-2, 3, FINE),
        (-2, 8, MINOR),
        (2, 40, MINOR),
    ],
)
def test_the_level_depends_on_the_whole_interval(low: float, high: float, level: str) -> None:
    assert level_of(effect(low, high)) == level


def idle_cloud() -> machines.Files:
    return machines.cloud() | {"later/proc/stat": machines.cloud()["proc/stat"]}


@pytest.mark.parametrize(
    ("kind", "found", "levels"),
    [
        # A problem with little measured effect is not serious, but the client on the server's core.
        (machines.laptop, SMALL, {"governor": MINOR, "smt": SERIOUS}),
        # Measuring finds problems that no file shows.
        (machines.cloud, LARGE, dict.fromkeys(("governor", "smt", "load"), SERIOUS)),
        # A virtual machine that loses nothing is fine.
        (idle_cloud, SMALL, {"steal": FINE}),
        (idle_cloud, LARGE, {"steal": SERIOUS}),
    ],
)
def test_levels_follow_from_measured_effects(
    kind: Callable[[], machines.Files], found: Effect, levels: dict[str, str], tmp_path: Path
) -> None:
    after = measured(kind, tmp_path, found)
    assert {name: after[name].level for name in levels} == levels
    assert MEASURE_IT not in {finding.advice for finding in after.values()}
    if found is LARGE:
        assert "core" in after["smt"].advice


@pytest.mark.parametrize("kind", machines.KINDS)
@pytest.mark.parametrize("found", [SMALL, LARGE, UNSURE])
def test_every_measured_problem_has_an_interval_and_a_remedy(
    kind: Callable[[], machines.Files], found: Effect, tmp_path: Path
) -> None:
    probed = {name for name, check in CHECKS.items() if check.measure}
    for name, finding in measured(kind, tmp_path, found).items():
        assert bool(finding.effects) == (name in probed)
        if finding.level != FINE:
            assert finding.fix or finding.advice, name
        for effect in finding.effects:
            assert "95 % interval" in effect.text()


def test_a_failed_probe_says_why_and_does_not_affect_the_others(tmp_path: Path) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Effect:
            raise ProbeError(f"no {name} today")

    machine = machines.build(machines.quiet(), tmp_path)
    findings = examine(machine, LOOPBACK, machines.second(machine))
    after = measure(findings, Broken())
    assert [finding.level for finding in after] == [finding.level for finding in findings]
    assert {f.name: f.unmeasured for f in after}["idle"] == "no wake today"


def test_the_interval_contains_a_known_difference() -> None:
    noise = random.Random(7)
    before = [100 * noise.gauss(1, 0.02) for _ in range(12)]
    after = [value * 1.1 * noise.gauss(1, 0.01) for value in before]
    paired = extra_cost("x", before, after)
    assert paired.low < 10 < paired.high
    assert paired.high - paired.low < 4
    assert mean("x", "ns", [5.0, 5.0, 5.0]).high == 5.0


def test_a_worker_on_a_shared_cpu_sees_the_time_that_the_other_takes() -> None:
    with worker(CPU, "busy") as busy:
        busy.stdout.readline()
        pieces = ask(CPU, "watch", 1.0)
    taken = sum(piece["others_ns"] for piece in pieces) / sum(p["wall_ns"] for p in pieces)
    assert taken > 0.25
    assert max(piece["others_longest_ns"] for piece in pieces) > 1_000_000


def test_a_neighbour_runs_only_while_it_is_let() -> None:
    def used_ns() -> int:
        return time.clock_gettime_ns((~busy.pid << 3) | 2)

    with worker(CPU, "busy") as busy:
        busy.stdout.readline()
        let(busy.pid, False)
        began = used_ns()
        time.sleep(0.1)
        assert used_ns() == began
        let(busy.pid, True)
        wait_until(lambda: used_ns() > began, "it does not run again")
        assert len(ask(CPU, "beside", busy.pid, 2, 0.01)) == 2


def test_tasks_take_the_time_they_are_sized_for() -> None:
    found = [took_ns for pieces in ask(CPU, "work", 2, 1, 0.05, 3) for took_ns in pieces]
    assert len(found) == 6
    # On a busy machine a CPU is slower by some factor, but not by ten.
    assert all(0.005e9 < took_ns < 0.5e9 for took_ns in found)
    ((first, second, third),) = ask(CPU, "nap", 1, 3, 1000)
    assert min(first, second, third) > 0


def test_a_dead_worker_is_a_one_line_error_and_leaves_no_process() -> None:
    with worker(CPU, "watch", 20) as process:
        process.kill()
        with pytest.raises(ProbeError, match="exited"):
            answer(process)
    assert not Path(f"/proc/{process.pid}").exists()


def children(pid: int) -> list[int]:
    return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_ctrl_c_while_measuring_leaves_no_process() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "regatta", "doctor", "--measure", "--placement", "loopback"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    process.stderr.readline()
    deadline = time.monotonic() + 30
    while not (started := children(process.pid)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    # A worker that had just started is killed with the lab; init of a container may not reap it.
    deadline = time.monotonic() + 10
    while not all(is_gone(pid) for pid in started):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.long
def test_the_whole_examination_measures_everything() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regatta", "doctor", "--measure", "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    document = json.loads(done.stdout)
    assert document["measured"] is True
    probed = {name for name, check in CHECKS.items() if check.measure}
    for finding in document["findings"]:
        assert bool(finding["effects"] or finding["unmeasured"]) == (finding["name"] in probed)
    assert "measuring: " in done.stderr
