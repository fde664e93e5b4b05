"""Two checks of the instruments of a trial against known truths, with real servers.

`window`: counting begins and ends with the requests and misses no work. The counted time is
compared with the timestamps of the requests, and the CPU time in the window with all CPU time that
the load caused until the server was idle again.

`stopped`: a server that stands still for a known time is reported (coordinated omission). In an
open load requests are due at known times. Those due while the server is stopped wait until it
continues, so the true latencies are known without a client. If the stop lasts beyond the end of the
load, most of them do not start: their percentiles are only bounded from below, and must not be
reported below the truth. The injected error is a closed load, whose clients send nothing while they
wait: it sees one slow request a connection, too few for its percentiles.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from regatta.checks.calibrate.goals import CalibrationPart, Context
from regatta.errors import TrialError
from regatta.judge.statistics.percentiles import (
    RequestLatencies,
    latencies_from_samples,
    nearest_rank,
)
from regatta.measure.accounts import process_tree
from regatta.measure.perf import Perf
from regatta.measure.places import placement
from regatta.measure.trial.load import warm_up
from regatta.measure.trial.measure import measure
from regatta.measure.trial.server import start_server, stop_server
from regatta.measure.trial.setup import TrialSetup, fresh_scratch
from regatta.record.cell import Cell
from regatta.record.inputs import Goal
from regatta.record.metrics import FRACTIONS, P50, P99, P999, Metric
from regatta.record.records import SERVER
from regatta.record.samples import pack_samples, records_in
from regatta.record.study.limits import AUTO

SCRATCH = "bench"
NS_PER_S = 1_000_000_000
NS_PER_MS = 1e6

# Of `window`: full and quick.
DESIGNS = ("fork-per-client", "thread-per-client", "epoll")
ROUNDS = (200, 20)
TIMED_S = (2.0, 0.5)
OPEN_RATE_PER_S = 500
REST_S = 0.1
"""Enough for a server to become idle after its last reply."""
WINDOW_PERCENT = 1.0

# Of `stopped`: full and quick.
CLOSED = "closed-load"
RATE_PER_S = 200
LOAD_S = (30.0, 6.0)
STOPPED_SHARE, STOP_AT = 1.4 / 30, 1 / 3
"""Of the load: how long the server is stopped, and when."""
END_LOAD_S = (5.0, 2.0)
END_STOP_AT, BEYOND_S = 0.6, 1.0
"""When it is stopped to the end, and for how long beyond the end of the load."""
STOPPED_PERCENT = 5.0
NOT_BELOW = "not below the truth"
METRICS = (P99, P999)
END_METRICS = (P50, P99, P999)

BURST = Cell(
    contender="epoll",
    contender_order=0,
    work="scan",
    load="burst",
    connections=10,
    engine="epoll",
    dialect="line",
    rounds=ROUNDS[0],
    duration_s=None,
    per_connection=None,
    top=2,
    max_age_ms=1000,
)
CLOSED_CELL = replace(BURST, load="closed", rounds=None, per_connection=1)
"""A new connection for each request."""
OPEN_CELL = replace(BURST, load="open", rounds=None, per_connection=0, arrivals="even")
"""Evenly spaced requests over persistent connections."""


@contextmanager
def trial_setup(context: Context) -> Iterator[TrialSetup]:
    """Places the two sides as a race does, with an empty scratch folder."""
    options = context.options
    kind = options.placement or AUTO
    scratch = context.folder_for(SCRATCH)
    with placement.make_placement(kind, options.server_cpus, options.client_cpus) as placed:
        fresh_scratch(scratch)
        yield TrialSetup(context.programs, placed, Perf(), (), scratch)


def within(percent: float, name: str, of: str, deviation: float, detail: str) -> Goal:
    """The goal that a deviation is within `percent`."""
    return Goal(
        name=name,
        goal=f"within {percent:g} % of {of}",
        measured=f"{deviation:+.2f} %",
        met=abs(deviation) <= percent,
        detail=detail,
        value=deviation,
    )


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
    records = records_in(window.samples)
    return Counted(
        cell=cell,
        window_ns=window.length_ns,
        requests_ns=int(records["end_ns"].max() - records["start_ns"].min()),
        cpu_ns=window.cpu_ns(SERVER),
        all_cpu_ns=process_tree.cpu_time_ns(before, after),
        in_ticks=after.charged_ns is None and after.reaped_ns > before.reaped_ns,
    )


def judge_time(found: Counted) -> Goal:
    off = (found.window_ns / found.requests_ns - 1) * 100
    goal = within(
        WINDOW_PERCENT,
        f"counted time of a load ({found.cell.load})",
        "its requests' timestamps",
        off,
        f"{found.window_ns / NS_PER_MS:,.2f} ms, from the first start to the last end "
        f"{found.requests_ns / NS_PER_MS:,.2f} ms: "
        f"{(found.window_ns - found.requests_ns) / NS_PER_MS:.2f} ms more",
    )
    # A window shorter than its requests misses some of them.
    return replace(goal, met=goal.met and off >= 0)


def judge_cpu(found: Counted) -> Goal:
    goal = within(
        WINDOW_PERCENT,
        f"CPU time in the window of {found.cell.contender}",
        "all that the load caused",
        (found.cpu_ns / found.all_cpu_ns - 1) * 100,
        f"{found.cpu_ns / NS_PER_MS:,.1f} ms in the window, "
        f"{found.all_cpu_ns / NS_PER_MS:,.1f} ms until the server was idle",
    )
    if not found.in_ticks:
        return goal
    reason = "not measured: without a control group, CPU time of children is in ticks"
    return Goal(goal.name, goal.goal, reason, met=None)


def check_window(context: Context) -> list[Goal]:
    bursts = [replace(BURST, contender=design, rounds=ROUNDS[context.quick]) for design in DESIGNS]
    duration_s = TIMED_S[context.quick]
    timed = [
        replace(CLOSED_CELL, duration_s=duration_s),
        replace(OPEN_CELL, duration_s=duration_s, rate=OPEN_RATE_PER_S),
    ]
    found: list[Counted] = []
    with trial_setup(context) as setup:
        for cell in (*bursts, *timed):
            context.say(f"window: {cell.label()}")
            found.append(count(setup, cell))
    loads = found[len(DESIGNS) - 1 :]
    return [*map(judge_time, loads), *map(judge_cpu, found[: len(DESIGNS)])]


@dataclass
class Stop:
    """When the server was stopped, by CLOCK_MONOTONIC like the samples."""

    begin_ns: int = 0
    end_ns: int = 0
    failed: list[OSError] = field(default_factory=list)


@contextmanager
def stopped_once(pid: int, after_s: float, for_s: float) -> Iterator[Stop]:
    """Stops the process once while the body runs. It is always continued."""
    stop, cancel = Stop(), threading.Event()

    def hold() -> None:
        if cancel.wait(after_s):
            return
        try:
            os.kill(pid, signal.SIGSTOP)
            stop.begin_ns = time.monotonic_ns()
            cancel.wait(for_s)
            stop.end_ns = time.monotonic_ns()
            os.kill(pid, signal.SIGCONT)
        except OSError as error:
            stop.failed.append(error)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield stop
    finally:
        cancel.set()
        thread.join()
        with suppress(OSError):
            os.kill(pid, signal.SIGCONT)


def true_latencies_ns(cell: Cell, start_ns: int, stop: Stop) -> NDArray[np.int64]:
    """How long each due request had to wait for the server."""
    assert cell.rate is not None
    assert cell.duration_s is not None
    count = int(cell.rate * cell.duration_s)
    due_ns = start_ns + (np.arange(count) * (NS_PER_S / cell.rate)).astype(np.int64)
    waits = (due_ns >= stop.begin_ns) & (due_ns < stop.end_ns)
    return np.where(waits, stop.end_ns - due_ns, 0)


@dataclass(frozen=True)
class Stalled:
    """A load with one stop: the reported and the true latencies."""

    stop: Stop
    reported: RequestLatencies
    true: NDArray[np.int64]

    def in_ms(self, metric: Metric) -> tuple[float, float]:
        """That percentile as it was reported, and as it is."""
        fraction = FRACTIONS[metric.name]
        true_ns = float(nearest_rank(self.true, fraction))
        return self.reported.percentile(fraction) / NS_PER_MS, true_ns / NS_PER_MS


def stall(setup: TrialSetup, load_s: float, at: float, for_s: float, as_closed: bool) -> Stalled:
    """Runs the load, the server stopped after `at` of it; latencies as a report reads them."""
    cell = replace(OPEN_CELL, work="snapshot", duration_s=load_s, rate=RATE_PER_S)
    load = replace(cell, load="closed", rate=None, arrivals=None) if as_closed else cell
    with setup.side(setup.placement.server, SERVER) as server:
        target = start_server(setup, cell, (), server)
        assert server.pid is not None
        with stopped_once(server.pid, load_s * at, for_s) as stop:
            window = measure(setup, load, target, server, (), 0)
        if stop.failed or not stop.end_ns:
            raise TrialError("the server could not be stopped for a while")
        stop_server(setup, cell, server)
    packed = pack_samples(window.samples)
    # The first request is due when the load begins.
    began_ns = int(records_in(window.samples)["start_ns"].min())
    reported = latencies_from_samples(packed)
    return Stalled(stop, reported, true_latencies_ns(cell, began_ns, stop))


def judge_stop(found: Stalled, metric: Metric) -> Goal:
    reported, true = found.in_ms(metric)
    lasted_s = (found.stop.end_ns - found.stop.begin_ns) / NS_PER_S
    return within(
        STOPPED_PERCENT,
        f"{metric.label} of a stopped server",
        "the truth",
        (reported / true - 1) * 100,
        f"{reported:,.1f} ms, the truth is {true:,.1f} ms: stopped for {lasted_s:.3f} s "
        f"with {len(found.true):,} requests due at {RATE_PER_S} a second",
    )


def judge_end(found: Stalled, metric: Metric) -> Goal:
    """The goal for a stop beyond the end of the load."""
    reported, true = found.in_ms(metric)
    over = found.reported.is_over(FRACTIONS[metric.name])
    return Goal(
        name=f"{metric.label} of a server that is stopped to the end",
        goal=NOT_BELOW,
        measured=f"{'over ' if over else ''}{reported:,.1f} ms",
        met=reported <= true * (1 + STOPPED_PERCENT / 100) if over else reported >= true,
        detail=f"the truth is {true:,.1f} ms: {len(found.reported.at_least):,} of "
        f"{len(found.true):,} requests did not start",
        value=reported,
    )


def check_stopped(context: Context) -> list[Goal]:
    as_closed = context.inject == CLOSED
    load_s, end_s = LOAD_S[context.quick], END_LOAD_S[context.quick]
    stop_s = STOPPED_SHARE * load_s
    context.say(f"stopped: an open load of {load_s:g} s, the server stopped for {stop_s:g} s")
    with trial_setup(context) as setup:
        found = stall(setup, load_s, STOP_AT, stop_s, as_closed)
        context.say(f"stopped: another of {end_s:g} s, the server stopped until after its end")
        last = stall(setup, end_s, END_STOP_AT, (1 - END_STOP_AT) * end_s + BEYOND_S, as_closed)
    return [
        *(judge_stop(found, metric) for metric in METRICS),
        *(judge_end(last, metric) for metric in END_METRICS),
    ]


WINDOW = CalibrationPart(
    name="window",
    says="counted time against the timestamps of the requests",
    run=check_window,
    takes_s=15,
)
STOPPED = CalibrationPart(
    name="stopped",
    says="a server stopped during an open load, and one stopped to its end",
    run=check_stopped,
    takes_s=40,
    injected=(CLOSED,),
)
