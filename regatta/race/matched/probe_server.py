"""Runs probes against one server: a short load at each of several rates."""

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import numpy as np
from numpy.typing import NDArray

from regatta.errors import HostLostError, RegattaError, TrialError
from regatta.ledger.cell import Cell, MatchedCell
from regatta.ledger.probe import CLOSED, KNEE, PlannedProbe, Probe
from regatta.ledger.rate_search import due, why_not_held
from regatta.ledger.result import SERVER
from regatta.ledger.samples import ANSWERED, pack_samples, records_in
from regatta.race.folder import need_room
from regatta.trial.client_summary import AnswersError
from regatta.trial.load import warm_up
from regatta.trial.measure import disturbed_by, measure
from regatta.trial.server import start_server, stop_server
from regatta.trial.setup import TrialSetup
from regatta.trial.side import Side
from regatta.trial.trial import DYING_S
from regatta.trial.warming import SLICE_S, Warming
from regatta.trial.windows import Window

NS_PER_S = 1e9


def backlog_growth(samples: bytes, duration_s: float) -> float:
    """Growth of the backlog, as a share of the requests due in the second half of the window.

    The backlog is the requests that are due and not answered. Its minimum in the last quarter is
    compared with that in the second quarter: the difference is what half a window adds, and a pause
    that is recovered within a quarter does not show. One request more does not count as growth.
    """
    records = records_in(samples)
    if len(records) == 0:
        return 0.0
    start_ns, quarter_ns = records["start_ns"].min(), duration_s * NS_PER_S / 4
    marks = [start_ns + count * quarter_ns for count in range(5)]
    times, levels = _levels(records)
    grown = _least(times, levels, marks[3], marks[4]) - _least(times, levels, marks[1], marks[2])
    due = np.count_nonzero(records["start_ns"] >= marks[2])
    return grown / due if grown > 1 else 0.0


def _levels(records: NDArray[np.void]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The times at which the backlog changes, and its size after each."""
    answered = records[records["error"] == ANSWERED]
    times = np.concatenate([records["start_ns"], answered["end_ns"]])
    steps = np.repeat(np.array([1, -1]), [len(records), len(answered)])
    order = np.argsort(times, kind="stable")
    return times[order], np.cumsum(steps[order])


def _least(
    times: NDArray[np.int64], levels: NDArray[np.int64], begin_ns: float, end_ns: float
) -> int:
    first, last = np.searchsorted(times, [begin_ns, end_ns], side="right")
    return int(levels[max(0, first - 1) : last].min())


class ProbeServer:
    """One server for several probes; a new one after a failure."""

    def __init__(self, setup: TrialSetup, cell: MatchedCell) -> None:
        self.setup = setup
        self.cell = cell
        self.stack = ExitStack()
        self.server: Side | None = None
        self.target = ""

    def start(self) -> Side:
        """A fresh server, warmed up, unless one is running."""
        if self.server is None:
            self.setup.clear_scratch()
            side = self.setup.side(self.setup.placement.server, SERVER, accounted=True)
            started = self.stack.enter_context(side)
            self.target = start_server(self.setup, self.cell, (), started)
            self.server = started  # only now can it be stopped
            warm_up(self.setup, self.cell, self.target)
            self.warm(started)
        return self.server

    def warm(self, server: Side) -> None:
        """By a closed load, the fastest: the race's rate is not known yet. A later process is not
        watched for longer than it needs: a probe tells nothing of its cost."""
        closed = self.cell.closed(SLICE_S)
        is_design = closed.contender not in self.setup.contenders
        warming = Warming(self.setup.warm_ups, closed, is_design)
        while not warming.done and (warming.needs_requests or not warming.follows):
            load = warming.load()
            window = measure(self.setup, load, self.target, server, (), warming.seed)
            warming.add(window, disturbed_by(self.setup, window) is not None)

    def close_server(self) -> None:
        self.stack.close()
        self.server = None

    def stop(self) -> None:
        """Stops the server. A bad exit status is ignored here, as trials will show it."""
        if self.server is not None:
            with suppress(RegattaError, OSError):
                stop_server(self.setup, self.cell, self.server)
        self.close_server()
        shutil.rmtree(self.setup.scratch, ignore_errors=True)

    def probe(self, planned: PlannedProbe, seed: int) -> Probe:
        """Runs a probe; a failure means that the rate is not held."""
        self.setup.placement.need()
        started_at = time.time()
        try:
            server = self.start()
            window = measure(self.setup, self.load(planned), self.target, server, (), seed)
            samples = pack_samples([(window.samples, due(window.client))])
            why_not = self.judged(planned, window)
        except (RegattaError, OSError) as error:
            why = self.reason_of(error)
            self.close_server()
            need_room(self.setup.scratch.parent)
            client = error.summary if isinstance(error, AnswersError) else None
            return Probe(planned, f"failed: {why}", started_at, client=client)
        return Probe(
            planned=planned,
            why_not=why_not,
            started_at=started_at,
            disturbed=disturbed_by(self.setup, window),
            client=window.client,
            samples=samples if planned.kind == KNEE else None,
        )

    def reason_of(self, error: Exception) -> Exception:
        """What a server that died said at its end says more than its client does."""
        with suppress(HostLostError):
            if isinstance(error, TrialError) and self.server and self.server.ended(DYING_S):
                return self.server.failure(f"the server died ({error})")
        return error

    def load(self, planned: PlannedProbe) -> Cell:
        if planned.kind == CLOSED:
            return self.cell.closed(planned.duration_s)
        return self.cell.at(planned.rate, planned.duration_s)

    def judged(self, planned: PlannedProbe, window: Window) -> str | None:
        """Why the rate is not held; None if it is, or for a closed load."""
        if planned.kind == CLOSED:
            return None
        growth = backlog_growth(window.samples, planned.duration_s)
        return why_not_held(window.client, self.cell.p99_limit_ms, growth)


@contextmanager
def probe_server(setup: TrialSetup, cell: MatchedCell) -> Iterator[ProbeServer]:
    server = ProbeServer(setup, cell)
    try:
        yield server
    finally:
        server.stop()
