"""A claim: a statement about the results that a study tests, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import TypeAdapter

from regatta.ledger.counters import COUNTERS, CPU_TIME, PERCENT
from regatta.ledger.metrics import METRICS, SIDES
from regatta.ledger.plain import checked
from regatta.ledger.planned import TIMED

ORDER, COMPARE, LINEAR, RATIO, ENGINES = "order", "compare", "linear", "ratio", "client_engines"
BOTH = "both"
ITERATIVE = "iterative"
OVER_ITERATIVE = "_over_iterative"
"""How the name of a metric ends that is a difference to the iterative server's."""

EVENT_METRICS = tuple(
    one.claimed_as for one in COUNTERS if one.unit != PERCENT and one.name != CPU_TIME
)
"""Sums: the published figure is of a whole process or a request, ours of a request."""
NO_SUMS = {metric.claimed_as: metric for metric in METRICS if "_per_request" not in metric.name}
"""What means the same of a request and of a whole process, as the reports measure it."""
OVER_METRICS = ("task_clock_over_iterative", "cpu_clock_over_iterative")
METRIC_SIDES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((*EVENT_METRICS, "stalled_cycles_frontend_share"), SIDES),
    **{name: metric.sides for name, metric in NO_SUMS.items()},
    **dict.fromkeys(OVER_METRICS, ("server",)),
}
"""What a claim may be over, and whose it can be."""
CLIENT_METRICS = tuple(name for name, sides in METRIC_SIDES.items() if sides == ("client",))
TIMED_METRICS = (
    *("task_clock", "cpu_clock", "user_time", "system_time"),
    *(name for name, metric in NO_SUMS.items() if metric.kind == TIMED),
    *OVER_METRICS,
)
"""In a window from trials to which nothing is attached; all others from counted ones."""
ALSO_TIMED = ("context_switches", "page_faults")
"""Which the kernel counts by itself: from timed trials where there are no others."""
MICROSECONDS, MILLISECONDS = "us", "ms"


def is_timed(metric: str) -> bool:
    return metric in TIMED_METRICS


def unit_of(metric: str) -> str:
    """In which a margin of it may be stated, of a sum that of a request; empty: only as a share."""
    if metric.removesuffix(OVER_ITERATIVE).endswith(("_clock", "_time")):
        return MICROSECONDS
    if metric.startswith("latency_"):
        return MILLISECONDS
    return metric.replace("_", " ") if metric in EVENT_METRICS else ""


EQUAL_WITHIN = 0.1


@dataclass(frozen=True)
class Within:
    """How far apart two may be that a claim calls equal: the wider of the two margins."""

    share: float | None = EQUAL_WITHIN
    amount: float | None = None
    """In `unit`; of a sum that of a request."""
    unit: str = ""

    def words(self) -> str:
        """`10 % or 0.1 page faults`."""
        said = [] if self.share is None else [f"{self.share * 100:g} %"]
        said += [] if self.amount is None else [f"{self.amount:g} {self.unit}"]
        return " or ".join(said)


@dataclass(frozen=True, order=True)
class Place:
    """What picks a cell of the study for a claim."""

    design: str
    connections: int
    engine: str | None = None
    """The client's; None: that which the claim's cells share."""


@dataclass(frozen=True)
class Statement:
    """One thing that a claim says."""

    kind: str
    metric: str
    side: str
    """`both` where the sides are compared."""
    connections: tuple[int, ...]
    groups: tuple[tuple[str, ...], ...]
    """Names from the smallest to the largest, those of one group equal: designs (order, ratio),
    sides (compare), client engines (client_engines); empty for linear."""
    designs: tuple[str, ...]
    """Over which it is said, each alone; those of the order or the ratio."""
    at_least: float | None = None
    """How many times as large the next is."""
    within: Within = Within()
    """Of those that are equal, and of a shape."""

    def places(self) -> Iterator[Place]:
        """Each cell that it is about, and the iterative server's where that is subtracted."""
        engines: list[str | None] = [None]
        if self.kind == ENGINES:
            engines = [engine for group in self.groups for engine in group]
        designs = list(self.designs)
        if self.metric.endswith(OVER_ITERATIVE) and ITERATIVE not in designs:
            designs.append(ITERATIVE)
        for count in self.connections:
            for design in designs:
                for engine in engines:
                    yield Place(design, count, engine)

    def signs(self) -> str:
        """`select < iterative ~ thread-per-client`."""
        if self.kind == LINEAR:
            return f"{self.metric} grows linearly with the connections"
        sign = " < " if self.at_least is None else f" × {self.at_least:g} ≤ "
        return sign.join(" ~ ".join(group) for group in self.groups)


@dataclass(frozen=True)
class Claim:
    id: str
    says: str
    statements: tuple[Statement, ...]
    """All of them must hold."""
    source: str | None = None
    per: str = "process"
    """What the published figures are of: a whole `process`, or a `request`."""
    published_agrees: bool = True
    where: Mapping[str, str | int] = field(default_factory=dict)
    """What the cells must be besides: `engine`, `workers`, `work` …"""
    process_engines: Mapping[str, str] = field(default_factory=dict)
    """By design, where whole processes are counted: its client's engine, if not the others'."""

    def places(self) -> list[Place]:
        """Each cell that it is about, once."""
        return list(dict.fromkeys(p for said in self.statements for p in said.places()))

    def plain(self) -> dict[str, Any]:
        """For the ledger."""
        return {
            **asdict(self),
            "where": dict(self.where),
            "process_engines": dict(self.process_engines),
        }


def from_plain(content: Mapping[str, Any]) -> Claim:
    """What `plain` made, from a ledger; ValueError where it is something else."""
    return checked(ADAPTER, content)


ADAPTER = TypeAdapter(Claim)
