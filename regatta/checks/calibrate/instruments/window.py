"""Calibration: the window begins and ends with the requests and misses no work."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from regatta.checks.calibrate.goals import CalibrationPart, Context, within
from regatta.measure.accounts import process_tree
from regatta.measure.perf import without_perf
from regatta.measure.places import placement
from regatta.measure.trial.load import warm_up
from regatta.measure.trial.measure import measure
from regatta.measure.trial.server import start_server, stop_server
from regatta.measure.trial.setup import TrialSetup, fresh_scratch
from regatta.record.cell import Cell
from regatta.record.counters import CPU_TIME
from regatta.record.inputs import Goal
from regatta.record.records import SERVER
from regatta.record.samples import records_in
from regatta.record.study.limits import AUTO

SCRATCH = "bench"
PLAIN = Cell(
    contender="epoll",
    contender_order=0,
    work="scan",
    load="burst",
    connections=10,
    engine="epoll",
    dialect="line",
    rounds=1,
    duration_s=None,
    per_connection=None,
    top=2,
    max_age_ms=1000,
)


def burst_cell(design: str, rounds: int) -> Cell:
    return replace(PLAIN, contender=design, rounds=rounds)


def closed_cell(design: str, duration_s: float) -> Cell:
    """A new connection for each request."""
    return replace(
        PLAIN, contender=design, load="closed", rounds=None, duration_s=duration_s, per_connection=1
    )


def open_cell(design: str, work: str, duration_s: float, rate: int) -> Cell:
    """Evenly spaced requests over persistent connections."""
    return replace(
        PLAIN,
        contender=design,
        work=work,
        load="open",
        rounds=None,
        duration_s=duration_s,
        per_connection=0,
        rate=rate,
        arrivals="even",
    )


@contextmanager
def trial_setup(context: Context) -> Iterator[TrialSetup]:
    """Places the two sides as a race does, with an empty scratch folder."""
    options = context.options
    kind = options.placement or AUTO
    scratch = context.folder_for(SCRATCH)
    with placement.make_placement(kind, options.server_cpus, options.client_cpus) as placed:
        fresh_scratch(scratch)
        yield TrialSetup(
            programs=context.programs,
            placement=placed,
            perf=without_perf(None),
            events=(),
            scratch=scratch,
        )


# Calibration: the window begins and ends with the requests and misses no work. The counted time is
# compared with the timestamps of the requests, and the CPU time in the window with all CPU time
# that the load caused until the server was idle again.

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
