"""perf's counters against the kernel's accounting of each thread, over the load of one server.

A server that forks, creates threads or runs an event loop is counted as in a race. The accounts of
its threads are read from /proc while they live; for threads that ended, from the record that the
kernel sends at exit and the totals of their process and parent.
"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from regatta.errors import TrialError
from regatta.measure.accounts import process_tree
from regatta.measure.processes import MAJOR_FAULTS, MINOR_FAULTS, read_stat
from regatta.measure.trial.load import client_command, load_options, load_timeout_s
from regatta.measure.trial.server import start_server, stop_server
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.side import Side
from regatta.record.cell import Cell
from regatta.record.records import SERVER
from tests.truth.taskstats import Ended, Listener

SETTLE_S = 5.0
SETTLE_POLL_S = 0.005
SWITCHES, FAULTS, CPU = "context-switches", "page-faults", "task-clock"


@dataclass(frozen=True)
class Accounts:
    """What the living threads of a server have been charged."""

    reading: process_tree.TreeAccounts
    faults: int


@dataclass(frozen=True)
class CounterCheck:
    """By event: perf's count and the kernel's account of the same load."""

    counted: dict[str, float]
    charged: dict[str, float]

    def off_percent(self, event: str) -> float:
        truth = self.charged[event]
        return (self.counted[event] / truth - 1) * 100 if truth else 0.0


def thread_faults(pid: int) -> int:
    """Page faults of living threads only; /proc/PID/stat includes dead ones."""
    total = 0
    for tid in process_tree.thread_ids(pid):
        stat = read_stat(pid, tid)
        total += stat[MINOR_FAULTS] + stat[MAJOR_FAULTS]
    return total


def read_accounts(server: Side) -> Accounts:
    assert server.pid is not None
    return Accounts(server.accounts(), thread_faults(server.pid))


def settle(server: Side, lasting: set[tuple[int, int]]) -> None:
    """Waits until the threads that serve single clients have ended."""
    assert server.pid is not None
    deadline = time.monotonic() + SETTLE_S
    while server.accounts().threads - lasting:
        if time.monotonic() > deadline:
            raise TrialError("the server's threads did not end with their clients")
        time.sleep(SETTLE_POLL_S)
    # Threads disappear from the list shortly before they leave the CPU.
    time.sleep(SETTLE_POLL_S)


def run_load(setup: TrialSetup, cell: Cell, target: str) -> None:
    with setup.side(setup.placement.client, "load") as client:
        command = client_command(setup, cell, target, load_options(setup, cell, 0))
        client.start(command, setup.perf, ())
        if client.wait(load_timeout_s(cell)) != 0:
            raise client.failure("the load failed")


def compare(setup: TrialSetup, cell: Cell) -> CounterCheck:
    """Counts the whole load of one server with perf and by the kernel's accounting."""
    with ExitStack() as stack:
        listener = stack.enter_context(Listener())
        server = stack.enter_context(setup.side(setup.placement.server, SERVER, accounted=True))
        target = start_server(setup, cell, setup.events, server)
        settle(server, read_accounts(server).reading.threads)
        listener.take()
        before = read_accounts(server)
        server.switch("enable")
        run_load(setup, cell, target)
        settle(server, before.reading.threads)
        server.switch("disable")
        after = read_accounts(server)
        ended = listener.take()
        summary = stop_server(setup, cell, server)
        counted = {c.event: c.value for c in server.counters() if c.value is not None}
        assert server.pid is not None
        assert summary is not None
        return weigh(server.pid, (before, after), ended, (counted, summary))


def switches_of(usage: dict[str, int]) -> int:
    return usage["voluntary_switches"] + usage["involuntary_switches"]


def weigh(
    pid: int,
    ends: tuple[Accounts, Accounts],
    ended: Sequence[Ended],
    reported: tuple[dict[str, float], dict[str, Any]],
) -> CounterCheck:
    """Sums the accounts. `reported` has the counts of perf and the server's summary."""
    (before, after), (counted, summary) = ends, reported
    threads = [thread for thread in ended if thread.process == pid]
    itself, reaped = (summary["usage"]["serving"][whose] for whose in ("self", "children"))
    switches = after.reading.context_switches - before.reading.context_switches
    if threads:
        # Exit records are written while the thread still runs. The totals of the process are
        # complete, except for the final switch of each thread.
        switches = switches_of(itself) + len(threads)
    thread_faults = sum(thread.page_faults for thread in threads)
    reaped_faults = reaped["minor_faults"] + reaped["major_faults"]
    return CounterCheck(
        counted=counted,
        charged={
            SWITCHES: switches + switches_of(reaped),
            FAULTS: after.faults - before.faults + thread_faults + reaped_faults,
            CPU: process_tree.cpu_time_ns(before.reading, after.reading),
        },
    )
