"""The kernel's accounting, read from outside, agrees with what a process says of itself."""

import json
from dataclasses import replace

import pytest

from regatta.measure.accounts import process_tree
from regatta.measure.accounts.process_tree import client_counters, server_counters
from regatta.measure.processes import NS_PER_TICK
from tests.lab import asked_programs
from tests.lab.fake_records import reading
from tests.processes import state
from tests.waiting import wait_until

PROGRAM = """
import json, resource, subprocess, sys, threading, time
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
def usage():
    found = resource.getrusage(resource.RUSAGE_SELF)
    more = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"cpu": found.ru_utime + found.ru_stime + more.ru_utime + more.ru_stime,
            "switches": found.ru_nvcsw + found.ru_nivcsw,
            "faults": found.ru_minflt + found.ru_majflt + more.ru_minflt + more.ru_majflt}
for line in sys.stdin:
    what = line.strip()
    if what == "spin": spin(0.05)
    if what == "thread":
        thread = threading.Thread(target=spin, args=(0.05,)); thread.start(); thread.join()
    if what == "fork": subprocess.run(
        [sys.executable, "-c", "import time\\nwhile time.process_time() < 0.1: pass"])
    if what == "keep":
        kept = subprocess.Popen([sys.executable, "-c", "import sys, time\\n"
            "while time.process_time() < 0.1: pass\\n"
            "print(flush=True); sys.stdin.read()"], stdin=-1, stdout=-1)
        kept.stdout.readline()
    if what == "reap": kept.communicate()
    if what == "sleep":
        for _ in range(200): time.sleep(0.0005)
    if what == "touch": keep = bytearray(4096 * 500)
    print(json.dumps(usage()), flush=True)
"""


def account(pid: int) -> process_tree.TreeAccounts:
    """Read when it waits for the next line: what it takes to tell is in it, on a busy machine
    too."""
    wait_until(lambda: state(pid) == "S", "it does not come to wait")
    return process_tree.read(pid)


def measured(what: str) -> tuple[dict[str, float | None], dict[str, float]]:
    """The counters over one piece of work, and what the process itself says of it."""
    with asked_programs.running(PROGRAM) as found:
        own_before = json.loads(found.do("nothing"))
        before = account(found.pid)
        own_after = json.loads(found.do(what))
        after = account(found.pid)
    own = {key: own_after[key] - own_before[key] for key in own_after}
    return {counter.event: counter.value for counter in server_counters(before, after)}, own


@pytest.mark.parametrize(
    ("what", "least_s", "error_ns"),
    [("spin", 0.045, 5e6), ("thread", 0.045, 5e6), ("fork", 0.09, 3 * NS_PER_TICK)],
)
def test_cpu_time_holds_dead_threads_too_and_reaped_children_to_the_tick(
    what: str, least_s: float, error_ns: float
) -> None:
    counters, own = measured(what)
    # What it takes to ask and to tell is in only one of them, and longer where others run.
    assert counters["cpu-time"] == pytest.approx(own["cpu"] * 1e9, abs=error_ns)
    assert own["cpu"] >= least_s


def test_a_child_that_is_reaped_while_the_accounts_are_read_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between the reading of its parent's account and of its own."""
    with asked_programs.running(PROGRAM) as found:
        before = process_tree.read(found.pid)
        found.do("keep")
        real = process_tree.cpu_clock_ns
        reaped = []

        def reap_first(pid: int) -> int:
            if pid != found.pid and not reaped:
                reaped.append(found.do("reap"))
            return real(pid)

        monkeypatch.setattr(process_tree, "cpu_clock_ns", reap_first)
        after = process_tree.read(found.pid)
    assert reaped
    counters = {counter.event: counter.value for counter in server_counters(before, after)}
    assert counters["cpu-time"] >= 0.09e9


def test_user_and_system_time_make_up_the_cpu_time_to_the_tick() -> None:
    counters, _ = measured("spin")
    total = counters["user-time"] + counters["system-time"]
    assert total == pytest.approx(counters["cpu-time"], abs=3 * NS_PER_TICK)


def test_page_faults_are_those_of_getrusage() -> None:
    counters, own = measured("touch")
    assert own["faults"] >= 400
    assert counters["page-faults"] == pytest.approx(own["faults"], abs=20)


def test_context_switches_of_a_process_whose_threads_stay_are_counted() -> None:
    counters, own = measured("sleep")
    # On a busy machine some happen between what it says of itself and its wait for the next line.
    assert own["switches"] >= 200
    assert counters["context-switches"] == pytest.approx(own["switches"], abs=50)


def test_context_switches_are_not_supported_once_a_thread_has_come_and_gone() -> None:
    counters, _ = measured("thread")
    assert counters["context-switches"] is None


READING = reading(clock_ns=1_000_000, threads={(1, 1)}, thread_run_ns=1_000_000)


@pytest.mark.parametrize(
    ("change", "provable"),
    [
        ({}, True),
        ({"clock_ns": 1_020_000}, True),
        ({"clock_ns": 1_020_001}, False),
        ({"threads": {(1, 1), (1, 2)}}, False),
        ({"threads": {(1, 2)}}, False),
        ({"reaped_ns": 10_000_000}, False),
    ],
)
def test_switches_count_only_where_no_thread_can_have_been_missed(
    change: dict[str, object], provable: bool
) -> None:
    after = replace(READING, **change)
    assert process_tree.switches_provable(READING, after) == provable


def test_the_clients_accounts_are_its_own_and_its_childrens() -> None:
    keys = ["user_ns", "system_ns", "minor_faults", "major_faults", "voluntary_switches"]
    six = dict.fromkeys([*keys, "involuntary_switches"], 3)
    counters = {c.event: c.value for c in client_counters({"self": six, "children": six})}
    assert counters == {
        "cpu-time": 12,
        "user-time": 6,
        "system-time": 6,
        "page-faults": 12,
        "context-switches": 12,
    }


@pytest.mark.parametrize("usage", [None, {}, {"self": {}}, 3, {"self": None, "children": None}])
def test_a_client_without_accounts_is_not_supported_and_not_zero(usage: object) -> None:
    for counter in client_counters(usage):
        assert (counter.value, counter.state) == (None, "not supported")
