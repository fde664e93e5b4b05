"""The account of a whole CPU sees all that it does, also what no control group is charged with."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from regatta.measure.accounts import whole_cpu
from regatta.measure.accounts.cgroup import ControlGroup
from regatta.measure.accounts.whole_cpu import (
    STAT,
    TIMER_LIST,
    CpuReading,
    LabThread,
    SleepReading,
    WholeCpu,
    counters,
)
from regatta.measure.places.placement import make_placement
from regatta.measure.processes import (
    IDLE,
    IOWAIT,
    NS_PER_TICK,
    STEAL,
    guard_environment,
    parse_cpus,
)
from regatta.record.records import CLIENT, SERVER
from tests.lab.needs import CPUS, NEEDS_ROOT, NEEDS_TWO_CPUS

SOURCES = [STAT, pytest.param(TIMER_LIST, marks=NEEDS_ROOT)]
SPIN = "import sys, time\nwhile time.process_time() < float(sys.argv[1]): pass"
BURNT_S = 0.1
MS = 1_000_000

TIMERS = """Timer List Version: v0.9
now at 500000 nsecs

cpu: 0
 clock 0:
  .resolution: 1 nsecs
active timers:
 #0: <00000000ecf61c86>, tick_nohz_handler, S:01
  .nohz           : 1
  .tick_stopped   : 1
  .idle_entrytime : 400000 nsecs
  .idle_sleeptime : 300000 nsecs
  .iowait_sleeptime: 20000 nsecs
jiffies: 42

cpu: 11
  .nohz_mode      : 2
  .tick_stopped   : 0
  .idle_entrytime : 450000 nsecs
  .idle_sleeptime : 7 nsecs
  .iowait_sleeptime: 1 nsecs

Tick Device: mode:     1
Per CPU device: 0
"""


def ticks_ns(cpu: int) -> tuple[int, int]:
    """What it slept and what the host took of it, to the tick."""
    columns = parse_cpus(Path("/proc/stat").read_text())[cpu]
    slept = columns[IDLE] + columns[IOWAIT]
    return slept * NS_PER_TICK, columns[STEAL] * NS_PER_TICK


def busy_ns(source: str, work: Callable[[], object]) -> tuple[float, float, float]:
    """The first CPU's meanwhile, by the account, and the least and most that /proc/stat allows."""
    account = WholeCpu(source, (CPUS[0],), (CPUS[-1],))
    # Between a clock and its ticks others may run for long: what the CPU slept is counted over no
    # less than the span of the least, and over no more than that of the most.
    outer_began_ns, outer_began = time.monotonic_ns(), sum(ticks_ns(CPUS[0]))
    with account.account() as found:
        inner_began, inner_began_ns = sum(ticks_ns(CPUS[0])), time.monotonic_ns()
        work()
        inner_ended_ns, inner_ended = time.monotonic_ns(), sum(ticks_ns(CPUS[0]))
    outer_ended, outer_ended_ns = sum(ticks_ns(CPUS[0])), time.monotonic_ns()
    least_ns = (inner_ended_ns - inner_began_ns) - (inner_ended - inner_began)
    most_ns = (outer_ended_ns - outer_began_ns) - (outer_ended - outer_began)
    return found[SERVER, "cpus", "busy-time"].value, least_ns, most_ns


def burn() -> None:
    subprocess.run(
        ["taskset", "-c", str(CPUS[0]), sys.executable, "-S", "-c", SPIN, str(BURNT_S)], check=True
    )


@NEEDS_TWO_CPUS
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("work", "least_s"), [(burn, BURNT_S), (lambda: time.sleep(0.2), 0.0)])
def test_a_cpu_is_as_busy_or_idle_as_the_kernel_says(
    source: str, work: Callable[[], object], least_s: float
) -> None:
    busy, least, most = busy_ns(source, work)
    # Steal comes in ticks, and so do both ends of what /proc/stat says.
    assert busy >= least_s * 1e9 - 2 * NS_PER_TICK
    assert least - 3 * NS_PER_TICK <= busy <= most + 3 * NS_PER_TICK


FLOOD = """
import socket, sys
there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
there.connect((sys.argv[1], 9000))
for _ in range(int(sys.argv[2])):
    there.send(b"x")
"""
ASLEEP = """
import socket
here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
here.bind(("", 9000))
print("ready", flush=True)
import sys
sys.stdin.read()
"""
PACKETS, LEAST_NS_A_PACKET = 100_000, 100


@NEEDS_TWO_CPUS
def test_packets_that_no_task_is_charged_for_are_counted(group: ControlGroup) -> None:
    """Steered to the CPU of a server that sleeps: its control group is charged with nothing."""
    with make_placement("netns", [CPUS[0]], [CPUS[-1]]) as place:
        if place.sleep_source != TIMER_LIST:
            pytest.skip("this kernel keeps no exact account of its sleep")
        server = subprocess.Popen(
            place.server.command(group.entering([sys.executable, "-S", "-c", ASLEEP])),
            env=guard_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            assert server.stdout.readline() == b"ready\n"
            flood = [sys.executable, "-S", "-c", FLOOD, place.server_address, str(PACKETS)]
            charged_ns = group.charged_ns()
            with place.watched_by(place.server).account() as found:
                command = place.client.command(flood)
                subprocess.run(command, env=guard_environment(), timeout=60, check=True)
            charged_ns = group.charged_ns() - charged_ns
        finally:
            server.kill()
            server.communicate()
    busy = found[SERVER, "cpus", "busy-time"].value
    assert busy >= PACKETS * LEAST_NS_A_PACKET
    assert charged_ns <= busy / 5


def test_a_cpu_sleeps_in_its_idle_ticks_and_in_those_it_waits_for_a_disk() -> None:
    (found,) = whole_cpu.in_ticks({3: (1, 2, 4, 8, 16, 32, 64, 128)}).values()
    assert found.slept_ns == (8 + 16) * NS_PER_TICK


@pytest.mark.parametrize("asleep", [False, True])
def test_of_each_cpu_its_own_lines_are_read(
    asleep: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / STAT).write_text("cpu4 0 0 0 0 0 0 0 7\ncpu9 0 0 0 0 0 0 0 11\n")
    states = {cpu: SleepReading(0, 10 * cpu, asleep) for cpu in (4, 9)}
    monkeypatch.setattr(whole_cpu, "PROC", tmp_path)
    monkeypatch.setattr(whole_cpu, "states", lambda: states)
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: None)
    for cpus in ((4, 9), (9, 4)):
        found = WholeCpu(TIMER_LIST, (4,), (9,)).read_cpus(LabThread(), cpus)
        read = {cpu: (one.slept_ns, one.steal_ns // NS_PER_TICK) for cpu, one in found.items()}
        assert read == {4: (40, 7), 9: (90, 11)}


def test_shared_cpus_have_no_busy_time() -> None:
    with WholeCpu(STAT, (CPUS[0],), (CPUS[0],)).account() as found:
        pass
    assert {one.value for one in found.values()} == {None}


def test_the_cpus_of_a_side_are_added_up_and_what_the_lab_ran_there_is_left_out() -> None:
    before = {0: CpuReading(0, 100, 0, 0), 3: CpuReading(10, 0, 0, 40)}
    after = {0: CpuReading(1000, 600, 100, 0), 3: CpuReading(1010, 900, 0, 70)}
    assert [row.value for row in counters(before, after, (0, 3))] == [400 + 70, 100]


@NEEDS_TWO_CPUS
def test_the_lab_may_run_everywhere_again_even_after_an_error() -> None:
    def fail() -> None:
        with WholeCpu(STAT, (CPUS[0],), (CPUS[-1],)).account():
            assert set(CPUS[:1]) & os.sched_getaffinity(0) == set()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert os.sched_getaffinity(0) == set(CPUS)


@NEEDS_TWO_CPUS
@pytest.mark.parametrize("source", SOURCES)
def test_what_the_lab_itself_runs_meanwhile_is_not_the_clients(source: str) -> None:
    def spin() -> int:
        end_ns = time.thread_time_ns() + 200 * MS
        while time.thread_time_ns() < end_ns:
            pass
        return end_ns

    began_ns = time.monotonic_ns()
    with WholeCpu(source, (CPUS[0],), tuple(CPUS[1:])).account() as found:
        spin()
    busy = found[CLIENT, "cpus", "busy-time"].value
    assert busy <= (time.monotonic_ns() - began_ns) * len(CPUS[1:]) - 200 * MS + 3 * NS_PER_TICK


def test_the_kernels_list_of_timers_is_read_whatever_the_flag_is_called() -> None:
    assert whole_cpu.parse(TIMERS) == {
        0: SleepReading(400_000, 320_000, tick_stopped=True),
        11: SleepReading(450_000, 8, tick_stopped=False),
    }


@pytest.mark.parametrize(
    "text",
    [
        TIMERS.replace("nohz           : 1", "nohz           : 0"),
        TIMERS.replace("nohz           : 1", "something      : 1"),
        TIMERS.replace("idle_sleeptime", "slept_by_another_name"),
        "",
    ],
)
def test_without_an_account_of_sleep_in_ns_ticks_must_do(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / TIMER_LIST).write_text(text)
    monkeypatch.setattr(whole_cpu, "PROC", tmp_path)
    assert whole_cpu.find_source() == STAT


@pytest.mark.parametrize(("away_s", "source"), [(0, TIMER_LIST), (5000, STAT)])
def test_in_a_time_namespace_ticks_must_do(
    away_s: int, source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now_ns = time.monotonic_ns() + away_s * 10**9
    (tmp_path / TIMER_LIST).write_text(TIMERS.replace("now at 500000", f"now at {now_ns}"))
    monkeypatch.setattr(whole_cpu, "PROC", tmp_path)
    assert whole_cpu.find_source() == source


def test_only_a_cpu_whose_tick_stays_stopped_is_certainly_asleep(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    still, awake = (SleepReading(400_000, 320_000, stopped) for stopped in (True, False))
    woken = SleepReading(500_000, 330_000, tick_stopped=True)
    readings = iter([{0: still, 1: awake, 2: still}, {0: still, 1: awake, 2: woken}] * 2)
    monkeypatch.setattr(whole_cpu, "states", lambda: next(readings))
    monkeypatch.setattr(whole_cpu, "NOHZ_FULL", tmp_path / "none")
    assert whole_cpu.asleep([0, 1, 2, 9]) == {0: still}
    (tmp_path / "none").write_text("2-3\n")
    assert whole_cpu.asleep([0, 1, 2, 9]) == {}
