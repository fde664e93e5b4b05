"""What the parts share that run loads of their own in place of races."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from regatta.calibrate.goals import Context
from regatta.ledger.cell import Cell
from regatta.machine import perf, placement
from regatta.machine.perf import Perf
from regatta.machine.placed import AUTO
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
    """Requests at even times over kept connections."""
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
def trial_setup(
    context: Context, warmup_rounds: int, events: tuple[str, ...] = (), found: Perf | None = None
) -> Iterator[TrialSetup]:
    """The two sides in their places, as a race would put them, and an empty folder."""
    options = context.options
    kind = options.placement or AUTO
    scratch = context.folder_for(SCRATCH)
    with placement.make_placement(kind, options.server_cpus, options.client_cpus) as placed:
        fresh_scratch(scratch)
        yield TrialSetup(
            programs=context.programs,
            placement=placed,
            perf=found or perf.without_perf(None),
            events=events,
            warmup_rounds=warmup_rounds,
            scratch=scratch,
        )
