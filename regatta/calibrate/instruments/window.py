"""Calibration: the window begins and ends with the requests and misses no work.

The counted time is compared with the timestamps of the requests, and the CPU time in the window
with all CPU time that the load caused until the server was idle again.
"""

import time
from dataclasses import dataclass

from regatta.calibrate.goals import CalibrationPart, Context, within
from regatta.calibrate.instruments.setup import burst_cell, closed_cell, open_cell, trial_setup
from regatta.ledger.cell import Cell
from regatta.ledger.counters import CPU_TIME
from regatta.ledger.inputs.calibration import Goal
from regatta.ledger.result import SERVER
from regatta.ledger.samples import records_in
from regatta.machine.accounts import process_tree
from regatta.trial.load import warm_up
from regatta.trial.measure import measure
from regatta.trial.server import start_server, stop_server
from regatta.trial.setup import TrialSetup

NAME = "window"
DESIGNS = ("fork-per-client", "thread-per-client", "epoll")
ROUNDS, QUICK_ROUNDS = 200, 20
TIMED_S, QUICK_TIMED_S = 2.0, 0.5
OPEN_RATE_PER_S = 500
REST_S = 0.1
"""Enough for a server to become idle after its last reply."""
WITHIN_PERCENT = 1.0
NS_PER_MS = 1e6


@dataclass(frozen=True)
class Counted:
    """One load: what its window counted, and the truth."""

    cell: Cell
    window_ns: int
    requests_ns: int
    """From the first start to the last end of a request, by the client's clock."""
    cpu_ns: float
    """CPU time charged to the server in the window."""
    all_cpu_ns: int
    """The same until the server was idle again."""
    in_ticks: bool
    """Whether the CPU time of children was known only in ticks, too coarse to compare; this is so
    without a control group."""

    @property
    def time_off_percent(self) -> float:
        return (self.window_ns / self.requests_ns - 1) * 100

    @property
    def cpu_off_percent(self) -> float:
        return (self.cpu_ns / self.all_cpu_ns - 1) * 100


def count(setup: TrialSetup, cell: Cell) -> Counted:
    with setup.side(setup.placement.server, SERVER, accounted=True) as server:
        target = start_server(setup, cell, (), server)
        warm_up(setup, cell, target)
        time.sleep(REST_S)
        before = server.accounts()
        window = measure(setup, cell, target, server, (), 0)
        time.sleep(REST_S)
        after = server.accounts()
        stop_server(setup, cell, server)
    charged = {counter.event: counter.value for counter in window.accounts}
    records = records_in(window.samples)
    return Counted(
        cell=cell,
        window_ns=window.length_ns,
        requests_ns=int(records["end_ns"].max() - records["start_ns"].min()),
        cpu_ns=charged[CPU_TIME] or 0.0,
        all_cpu_ns=process_tree.cpu_time_ns(before, after),
        in_ticks=after.charged_ns is None and after.reaped_ns > before.reaped_ns,
    )


def judge_time(found: Counted) -> Goal:
    off = found.time_off_percent
    more_ms = (found.window_ns - found.requests_ns) / NS_PER_MS
    return Goal(
        name=f"counted time of a load ({found.cell.load})",
        goal=f"within {WITHIN_PERCENT:g} % of its requests' timestamps",
        measured=f"{off:+.2f} %",
        # A window shorter than its requests misses some of them.
        met=0 <= off <= WITHIN_PERCENT,
        detail=(
            f"{found.window_ns / NS_PER_MS:,.2f} ms, from the first start to the last end "
            f"{found.requests_ns / NS_PER_MS:,.2f} ms: {more_ms:.2f} ms more"
        ),
        value=off,
    )


def judge_cpu(found: Counted) -> Goal:
    name, whole = f"CPU time in the window of {found.cell.contender}", "all that the load caused"
    if found.in_ticks:
        reason = "not measured: without a control group, CPU time of children is in ticks"
        return Goal(name, f"within {WITHIN_PERCENT:g} % of {whole}", reason, met=None)
    return within(
        WITHIN_PERCENT,
        name,
        whole,
        found.cpu_off_percent,
        f"{found.cpu_ns / NS_PER_MS:,.1f} ms in the window, "
        f"{found.all_cpu_ns / NS_PER_MS:,.1f} ms until the server was idle",
    )


def run(context: Context) -> list[Goal]:
    rounds = QUICK_ROUNDS if context.quick else ROUNDS
    duration_s = QUICK_TIMED_S if context.quick else TIMED_S
    bursts = [burst_cell(design, rounds) for design in DESIGNS]
    timed = [
        closed_cell(DESIGNS[-1], duration_s),
        open_cell(DESIGNS[-1], "scan", duration_s, OPEN_RATE_PER_S),
    ]
    found: list[Counted] = []
    with trial_setup(context) as setup:
        for cell in (*bursts, *timed):
            context.say(f"{NAME}: {cell.label()}")
            found.append(count(setup, cell))
    loads = found[len(DESIGNS) - 1 :]
    return [*map(judge_time, loads), *map(judge_cpu, found[: len(DESIGNS)])]


PART = CalibrationPart(
    name=NAME, says="counted time against the timestamps of the requests", run=run, takes_s=15
)
