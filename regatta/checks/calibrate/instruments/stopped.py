"""Calibration: coordinated omission. Is a server that is stopped for a known time reported?

In an open load requests are due at known times. Those due while the server is stopped wait until it
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

from regatta.checks.calibrate.goals import CalibrationPart, Context, within
from regatta.checks.calibrate.instruments.window import open_cell, trial_setup
from regatta.errors import TrialError
from regatta.judge.statistics.percentiles import (
    RequestLatencies,
    latencies_from_samples,
    nearest_rank,
)
from regatta.measure.trial.measure import measure
from regatta.measure.trial.server import start_server, stop_server
from regatta.measure.trial.setup import TrialSetup
from regatta.record.cell import Cell
from regatta.record.inputs import Goal
from regatta.record.metrics import FRACTIONS, P50, P99, P999, Metric
from regatta.record.rate_search import due
from regatta.record.records import SERVER
from regatta.record.samples import pack_samples, records_in

NAME = "stopped"
CLOSED = "closed-load"
DESIGN, WORK, RATE_PER_S = "epoll", "snapshot", 200
LOAD_S, STOP_S = 30.0, 1.4
QUICK_LOAD_S = 6.0
END_LOAD_S, QUICK_END_LOAD_S = 5.0, 2.0
STOP_AT = 1 / 3
"""When the server is stopped, as a fraction of the load."""
END_STOP_AT, BEYOND_S = 0.6, 1.0
"""The same for a stop to the end, and how long it lasts beyond the load."""
WITHIN_PERCENT = 5.0
NOT_BELOW = "not below the truth"
METRICS = (P99, P999)
END_METRICS = (P50, P99, P999)
NS_PER_S = 1_000_000_000
NS_PER_MS = 1e6


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


def stall(setup: TrialSetup, cell: Cell, at: float, for_s: float, as_closed: bool) -> Stalled:
    """Runs the load, the server stopped after `at` of it; latencies as a report reads them."""
    with setup.side(setup.placement.server, SERVER) as server:
        target = start_server(setup, cell, (), server)
        assert server.pid is not None
        assert cell.duration_s is not None
        load = replace(cell, load="closed", rate=None, arrivals=None) if as_closed else cell
        with stopped_once(server.pid, cell.duration_s * at, for_s) as stop:
            window = measure(setup, load, target, server, (), 0)
        if stop.failed or not stop.end_ns:
            raise TrialError("the server could not be stopped for a while")
        stop_server(setup, cell, server)
    packed = pack_samples([(window.samples, due(window.client))])
    # The first request is due when the load begins.
    began_ns = int(records_in(window.samples)["start_ns"].min())
    reported = latencies_from_samples(packed, window.client.get("unstarted", 0))
    return Stalled(stop, reported, true_latencies_ns(cell, began_ns, stop))


def judge(found: Stalled, metric: Metric) -> Goal:
    reported, true = found.in_ms(metric)
    off = (reported / true - 1) * 100
    lasted_s = (found.stop.end_ns - found.stop.begin_ns) / NS_PER_S
    return within(
        WITHIN_PERCENT,
        f"{metric.label} of a stopped server",
        "the truth",
        off,
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
        met=reported <= true * (1 + WITHIN_PERCENT / 100) if over else reported >= true,
        detail=f"the truth is {true:,.1f} ms: {len(found.reported.at_least):,} of "
        f"{len(found.true):,} requests did not start",
        value=reported,
    )


def run(context: Context) -> list[Goal]:
    load_s = QUICK_LOAD_S if context.quick else LOAD_S
    stop_s = STOP_S * load_s / LOAD_S
    context.say(f"{NAME}: an open load of {load_s:g} s, the server stopped for {stop_s:g} s")
    with trial_setup(context) as setup:
        cell = open_cell(DESIGN, WORK, load_s, RATE_PER_S)
        as_closed = context.inject == CLOSED
        found = stall(setup, cell, STOP_AT, stop_s, as_closed)
        load_s = QUICK_END_LOAD_S if context.quick else END_LOAD_S
        context.say(f"{NAME}: another of {load_s:g} s, the server stopped until after its end")
        cell = open_cell(DESIGN, WORK, load_s, RATE_PER_S)
        last = stall(setup, cell, END_STOP_AT, (1 - END_STOP_AT) * load_s + BEYOND_S, as_closed)
    return [
        *(judge(found, metric) for metric in METRICS),
        *(judge_end(last, metric) for metric in END_METRICS),
    ]


PART = CalibrationPart(
    name=NAME,
    says="a server stopped during an open load, and one stopped to its end",
    run=run,
    takes_s=40,
    injected=(CLOSED,),
)
