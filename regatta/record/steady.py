"""Whether a server is warm: its cost and latency per request in consecutive slices of one load.

A just-in-time compiler, a cache or a pool makes a fresh server's first requests dearer, a leak its
later ones. A server is steady when its last slices are level: the medians of the two halves of the
tail differ by no more than a tolerance, or than the slices' own noise. The tail grows with the time
watched, as compilers work in tiers with plateaus between them (Barrett et al. 2017), but only so
far, as the machine drifts too. A plateau longer than the tail is taken for the end, so windows are
tested once more (judge/soundness/barred.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

FLAT, WARMED, SLOWING, UNSTEADY = ("flat", "warmed", "still slowing", "never steady")
STEADY = (FLAT, WARMED)
FEWEST = 8
"""Slices in a tail; of later processes of a server that was watched before, half as many do."""
MOST, SHARE = 16, 3
"""The tail is one in so many of all slices, at most so many."""
CPU_TOLERANCE, LATENCY_TOLERANCE = 0.03, 0.15
MOST_NOISE = 0.10
"""With more noise in the cost, halves that agree say nothing yet: watch on. The noise of latencies
is often larger for ever."""
NOISES = 2.0
"""Standard errors within which halves agree."""
LEVEL_TOLERANCE = 0.05
"""Slices within this of the steady cost are warm."""
CHEAPER = 3
"""Times as far below it: warming makes requests cheaper, what makes them a little dearer is mostly
the machine."""
AT_ONCE = 5
"""Slices whose median is compared with the level, as one slice may be disturbed."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Slice:
    """A short load and what it cost."""

    seconds: float
    requests: int
    cpu_us: float
    """Server CPU per request."""
    p50_us: float
    disturbed: bool = False
    """Other programs took much of its CPUs: it warms like any other, but its cost says little."""


@dataclass(frozen=True)
class WarmUp:
    """Of one process."""

    kind: str
    requests: int
    """Until it was steady, if it was; else all that it was watched for ..."""
    seconds: float
    """... and how long they took, under load."""

    @property
    def is_steady(self) -> bool:
        return self.kind in STEADY

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def rows(curve: Sequence[Slice]) -> list[list[float]]:
    """As a ledger holds them."""
    return [list(vars(part).values()) for part in curve]


def curve_of(rows_of: Sequence[Sequence[float]]) -> list[Slice]:
    return [
        Slice(seconds, int(requests), cpu_us, p50_us, bool(disturbed))
        for seconds, requests, cpu_us, p50_us, disturbed in rows_of
    ]


def is_steady(curve: Sequence[Slice], fewest: int = FEWEST) -> bool:
    """Whether the tail of the curve is level in cost and latency."""
    tail = tail_of(curve, fewest)
    costs = _logs([part.cpu_us for part in tail])
    waits = _logs([part.p50_us for part in tail])
    return (
        len(tail) >= fewest
        and _error(costs) <= MOST_NOISE
        and _is_level(costs, CPU_TOLERANCE)
        and _is_level(waits, LATENCY_TOLERANCE)
    )


def judge(curve: Sequence[Slice], fewest: int = FEWEST) -> WarmUp:
    """What a whole curve shows."""
    tail = tail_of(curve, fewest)
    calm = calm_of(curve)
    if not is_steady(curve, fewest):
        rises = bool(tail) and _step(_logs([part.cpu_us for part in tail])) > CPU_TOLERANCE
        return _until(SLOWING if rises else UNSTEADY, curve)
    costs = _logs([part.cpu_us for part in calm])
    level = float(np.median(costs[-len(tail) :]))
    allowed = max(LEVEL_TOLERANCE, NOISES * _noise(costs))
    above = [
        float(np.median(costs[at : at + AT_ONCE])) - level for at in range(len(calm) - len(tail))
    ]
    off = [at for at, by in enumerate(above) if by > allowed or by < -CHEAPER * allowed]
    # Under a closed load a compiler may need three slices, which a median of five does not show.
    cold = level + max(LEVEL_TOLERANCE, CHEAPER * _noise(costs))
    dear = sum(1 for _ in takewhile(lambda cost: cost > cold, costs[: -len(tail)]))
    if not off and not dear:
        return WarmUp(FLAT, 0, 0.0)
    last = calm[max([dear - 1, *off])]
    until = next(at for at, part in enumerate(curve) if part is last)
    return _until(WARMED, curve[: until + 1])


def tail_of(curve: Sequence[Slice], fewest: int = FEWEST) -> Sequence[Slice]:
    calm = calm_of(curve)
    return calm[-max(fewest, min(MOST, len(calm) // SHARE)) :]


def calm_of(curve: Sequence[Slice]) -> Sequence[Slice]:
    """Without disturbed slices, unless most are disturbed."""
    calm = [part for part in curve if not part.disturbed]
    return calm if 2 * len(calm) > len(curve) else curve


def _until(kind: str, curve: Sequence[Slice]) -> WarmUp:
    return WarmUp(kind, sum(part.requests for part in curve), sum(part.seconds for part in curve))


def _logs(values: Sequence[float]) -> Floats:
    return np.log(np.maximum(np.array(values, dtype=np.float64), 1e-3))


def _is_level(values: Floats, tolerance: float) -> bool:
    return abs(_step(values)) <= max(tolerance, NOISES * _error(values))


def _error(values: Floats) -> float:
    """Standard error of the step."""
    return _noise(values) * 2 / float(np.sqrt(max(1, len(values))))


def _step(values: Floats) -> float:
    """The second half's median less the first's."""
    half = len(values) // 2
    return float(np.median(values[-half:]) - np.median(values[:half])) if half else 0.0


def _noise(values: Floats) -> float:
    """Standard deviation of a slice, from its neighbour, so that a trend does not add to it."""
    if len(values) < 2:
        return 0.0
    return float(np.median(np.abs(np.diff(values))) * 1.4826 / np.sqrt(2))
