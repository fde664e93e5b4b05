"""Calibration: perf's counters against the kernel's accounting of each thread.

Servers that fork, create threads or run an event loop are counted as in races. The accounts of
their threads are read from /proc while they live; for threads that ended, from the record that the
kernel sends at exit and the totals of their process and parent.
"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from regatta.calibrate.goals import CalibrationPart, Context, within
from regatta.calibrate.instruments.setup import burst_cell, trial_setup
from regatta.calibrate.instruments.taskstats import Ended, Listener, TaskstatsError
from regatta.errors import TrialError
from regatta.ledger.cell import Cell
from regatta.ledger.counters import EVENTS
from regatta.ledger.inputs.calibration import Goal
from regatta.ledger.result import SERVER
from regatta.machine.accounts import process_tree
from regatta.machine.perf.probe import probe
from regatta.machine.proc import MAJOR_FAULTS, MINOR_FAULTS, read_stat
from regatta.trial.load import client_command, load_options, load_timeout_s
from regatta.trial.server import start_server, stop_server
from regatta.trial.setup import TrialSetup
from regatta.trial.side import Side

NAME = "counters"
DESIGNS = ("fork-per-client", "thread-per-client", "epoll")
ROUNDS, QUICK_ROUNDS = 300, 20
WITHIN_PERCENT = 1.0
SETTLE_S = 5.0
SETTLE_POLL_S = 0.005
SWITCHES, FAULTS, CPU = "context-switches", "page-faults", "task-clock"
WORDS = {SWITCHES: "context switches", FAULTS: "page faults", CPU: "CPU time"}


@dataclass(frozen=True)
class Accounts:
    """What the living threads of a server have been charged."""

    reading: process_tree.TreeAccounts
    faults: int


@dataclass(frozen=True)
class CounterCheck:
    """One design: perf's counters and the kernel's accounts over the same load."""

    design: str
    requests: int
    ended: int
    """The number of threads that ended during the load."""
    counted: dict[str, float]
    charged: dict[str, float]
    clock_ns: float
    """CPU time by the CPU clocks of the processes."""
    recorded_ns: float
    """CPU time by the exit records of the threads."""

    def off_percent(self, event: str) -> float:
        return percent(self.counted[event], self.charged[event])


def percent(value: float, truth: float) -> float:
    """By how many percent a value exceeds the truth; infinite if only the truth is 0."""
    if truth == 0:
        return 0.0 if value == 0 else float("inf")
    return (value / truth - 1) * 100


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


def settle(server: Side, lasting: frozenset[tuple[int, int]]) -> None:
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
        return weigh(cell, server.pid, (before, after), ended, (counted, summary))


def switches_of(usage: dict[str, int]) -> int:
    return usage["voluntary_switches"] + usage["involuntary_switches"]


def weigh(
    cell: Cell,
    pid: int,
    ends: tuple[Accounts, Accounts],
    ended: Sequence[Ended],
    reported: tuple[dict[str, float], dict[str, Any]],
) -> CounterCheck:
    """Sums the accounts. `reported` has the counts of perf and the server's summary."""
    (before, after), (counted, summary) = ends, reported
    threads = [thread for thread in ended if thread.process == pid]
    processes = [thread for thread in ended if thread.parent == pid and thread.process != pid]
    itself, reaped = (summary["usage"]["serving"][whose] for whose in ("self", "children"))
    switches = after.reading.context_switches - before.reading.context_switches
    if threads:
        # Exit records are written while the thread still runs. The totals of the process are
        # complete, except for the final switch of each thread.
        switches = switches_of(itself) + len(threads)
    thread_faults = sum(thread.page_faults for thread in threads)
    reaped_faults = reaped["minor_faults"] + reaped["major_faults"]
    living_ns = after.reading.thread_run_ns - before.reading.thread_run_ns
    clock = replace(before.reading, charged_ns=None), replace(after.reading, charged_ns=None)
    return CounterCheck(
        design=cell.contender,
        requests=(cell.rounds or 0) * cell.connections,
        ended=len(threads) + len(processes),
        counted=counted,
        charged={
            SWITCHES: switches + switches_of(reaped),
            FAULTS: after.faults - before.faults + thread_faults + reaped_faults,
            CPU: process_tree.cpu_time_ns(before.reading, after.reading),
        },
        clock_ns=process_tree.cpu_time_ns(*clock),
        recorded_ns=living_ns + sum(thread.run_ns for thread in (*threads, *processes)),
    )


def judge(found: CounterCheck, event: str) -> Goal:
    """The goal for one counter of one design."""
    words = WORDS[event]
    if event not in found.counted:
        return unmeasured(f"perf counted no {event} here", [found.design], [words])[0]
    off = found.off_percent(event)
    unit = 1e6 if event == CPU else 1
    suffix = " ms" if event == CPU else ""
    detail = (
        f"perf {found.counted[event] / unit:,.0f}{suffix}, the kernel "
        f"{found.charged[event] / unit:,.0f}{suffix}, over {found.requests:,} requests and "
        f"{found.ended:,} threads that ended"
    )
    if event == CPU:
        clock, records = (
            percent(value, found.charged[CPU]) for value in (found.clock_ns, found.recorded_ns)
        )
        detail += (
            f"; deviation of the CPU clock of the process {clock:+.2f} %, of the exit records "
            f"{records:+.2f} %"
        )
    name = f"{words} of {found.design}"
    return within(WITHIN_PERCENT, name, "the kernel's account", off, detail)


def unmeasured(
    reason: str, designs: Sequence[str] = DESIGNS, counters: Sequence[str] = (*WORDS.values(),)
) -> list[Goal]:
    return [
        Goal(
            name=f"{words} of {design}",
            goal=f"within {WITHIN_PERCENT:g} % of the kernel's account",
            measured=f"not measured: {reason}",
            met=None,
        )
        for design in designs
        for words in counters
    ]


def run(context: Context) -> list[Goal]:
    found = probe(EVENTS)
    if not found.by_group:
        return unmeasured(found.note or "perf cannot count control groups here (it needs root)")
    goals: list[Goal] = []
    try:
        with trial_setup(context, EVENTS, found) as setup:
            for design in DESIGNS:
                context.say(f"{NAME}: {design}")
                cell = burst_cell(design, QUICK_ROUNDS if context.quick else ROUNDS)
                compared = compare(setup, cell)
                goals += [judge(compared, event) for event in WORDS]
    except TaskstatsError as error:
        return unmeasured(str(error))
    return goals


PART = CalibrationPart(
    name=NAME,
    says="perf's counters against the kernel's accounting of every thread",
    run=run,
    takes_s=20,
)
