"""Cells and setup of the parts that run single loads rather than races."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from regatta.calibrate.goals import Context
from regatta.ledger.cell import Cell
from regatta.machine import placement
from regatta.machine.perf.stat import without_perf
from regatta.machine.sides.placement import AUTO
from regatta.trial.setup import TrialSetup, fresh_scratch

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
