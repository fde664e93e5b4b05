"""What the wire tells of a slow server: waits of a length that only TCP's timers have.

Each sample has when its request began, and its first byte and its end arrived. Linux delays an ACK
by 40 ms, sends unacknowledged data again after 200 ms, and a dropped attempt to connect after 1 s.
Where more than one request in a hundred waits just that long, p99 is that of the timer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regatta.record.cell import Cell
from regatta.record.records import Trial
from regatta.record.samples import answered_samples

WAIT, TAIL = "wait", "tail"
"""From the start to the first byte, and from there to the end."""
LEAST_SHARE = 0.01
MOST_TRIALS = 5
"""Of a cell: they show what all do."""
NS_PER_MS = 1e6


@dataclass(frozen=True)
class Sign:
    part: str
    from_ms: float
    to_ms: float
    short_only: bool
    """Whether it needs a new connection for each request."""
    says: str
    do: str


SIGNS = (
    Sign(
        TAIL,
        38.0,
        50.0,
        short_only=False,
        says="its end follows its first byte by {ms:.0f} ms: Nagle's algorithm waits for a delayed "
        "ACK",
        do="write an answer at once, or set TCP_NODELAY",
    ),
    Sign(
        WAIT,
        200.0,
        230.0,
        short_only=True,
        says="its first byte takes {ms:.0f} ms: the listen queue was full, and what the client "
        "sent was sent again",
        do="enlarge its backlog",
    ),
    Sign(
        WAIT,
        1_000.0,
        1_100.0,
        short_only=True,
        says="its first byte takes {ms:,.0f} ms: the listen queue was full, and the client "
        "connected again",
        do="enlarge its backlog",
    ),
)


@dataclass(frozen=True)
class OnTheWire:
    """A sign of a timer at one contender under one load."""

    cell: Cell
    sign: Sign
    share: float
    """Of the requests."""
    ms: float
    """How long these waited, the median."""

    @property
    def says(self) -> str:
        return f"in {self.share:.0%} of its answers {self.sign.says.format(ms=self.ms)}"


def on_the_wire(cells: Iterable[Cell], trials: Mapping[int, list[Trial]]) -> list[OnTheWire]:
    found = []
    for cell in cells:
        waits = _waits_ms(
            [trial for trial in trials.get(cell.id, []) if trial.samples][:MOST_TRIALS]
        )
        for sign in SIGNS:
            of = waits[sign.part]
            inside = of[(of >= sign.from_ms) & (of <= sign.to_ms)]
            if len(inside) > LEAST_SHARE * len(of) and not (
                sign.short_only and cell.per_connection is None
            ):
                share = len(inside) / len(of)
                found.append(OnTheWire(cell, sign, share, float(np.median(inside))))
    return found


def _waits_ms(trials: list[Trial]) -> dict[str, NDArray[np.float64]]:
    records = [answered_samples(trial.samples) for trial in trials]
    parts: dict[str, list[NDArray[np.float64]]] = {WAIT: [], TAIL: []}
    for of in records:
        first = np.where(of["first_byte_ns"] == 0, of["end_ns"], of["first_byte_ns"])
        parts[WAIT].append((first - of["start_ns"]) / NS_PER_MS)
        parts[TAIL].append((of["end_ns"] - first) / NS_PER_MS)
    return {name: np.concatenate([*each, np.zeros(0)]) for name, each in parts.items()}
