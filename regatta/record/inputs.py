"""The inputs of a race as plain data, recorded before its first trial: claims, baseline, published
figures, calibration.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from pydantic import Field, StrictBool, TypeAdapter

from regatta.errors import checked
from regatta.record.recordings import last_name

VERSION = 2
"""Version 1 counted false alarms by drawing names within the blocks of one race."""
OUTCOME = "outcome"
"""A derived field, in words, for human readers."""
MOST_GOALS = 1_000
MET, NOT_REFUTED, MISSED, NOT_MEASURED = "met", "not refuted", "missed", "not measured"
"""The outcomes of a goal. Only a missed goal is a failure; only a met goal is proven."""


Number = Annotated[float, Field(strict=True, gt=-1e15, lt=1e15)]


@dataclass(frozen=True)
class Goal:
    """A goal, and whether it was met."""

    name: str
    """The same in every calibration: `p99 of a stopped server`."""
    goal: str
    """In words: `within 5 % of the truth`."""
    measured: str
    """In words, with its unit: `2.1 % above`; or why it could not be measured."""
    met: StrictBool | None
    """None: undecided, which is not a failure. Without a `value` it could not be measured here;
    with one there was too little data."""
    detail: str = ""
    """Details for interested readers: sizes, sources, assumptions."""
    value: Number | None = None
    """`measured` as a number, in the goal's unit."""

    @property
    def outcome(self) -> str:
        if self.met is None:
            return NOT_MEASURED if self.value is None else NOT_REFUTED
        return MET if self.met else MISSED


Goals = Annotated[tuple[Goal, ...], Field(min_length=1, max_length=MOST_GOALS)]


@dataclass(frozen=True)
class Calibration:
    """The goals of all parts, and where and when they were measured."""

    taken_at: Number
    """Seconds since 1970."""
    elapsed_s: Number
    regatta_version: str
    machine: dict[str, Any]
    goals: Goals
    quick: StrictBool = False
    inject: str | None = None

    @property
    def missed(self) -> list[Goal]:
        return self.that_are(MISSED)

    def that_are(self, outcome: str) -> list[Goal]:
        return [goal for goal in self.goals if goal.outcome == outcome]

    @property
    def outcome(self) -> str:
        """The worst outcome of all measured goals."""
        worst_first = (MISSED, NOT_REFUTED, MET)
        return next((word for word in worst_first if self.that_are(word)), NOT_MEASURED)


def to_plain(calibration: Calibration) -> dict[str, Any]:
    """As in the JSON file and in `--json`."""
    plain = asdict(calibration)
    return {
        "version": VERSION,
        **plain,
        "goals": [{**asdict(goal), OUTCOME: goal.outcome} for goal in calibration.goals],
        "met": {MET: True, MISSED: False}.get(calibration.outcome),
        OUTCOME: calibration.outcome,
    }


def from_plain(plain: object) -> Calibration:
    """The inverse of `to_plain`; ValueError, in a few words, for anything else."""
    if not isinstance(plain, dict):
        raise ValueError("it is not an object")
    if plain.get("version") != VERSION:
        raise ValueError(f"its version is {str(plain.get('version'))[:20]} and not {VERSION}")
    return checked(CALIBRATION_ADAPTER, plain)


CALIBRATION_ADAPTER = TypeAdapter(Calibration)


ORDER, RATIO, COMPARE = "order", "ratio", "compare"
GROWTH, WIDENS, NEARER, BELOW, ABOVE = "growth", "widens", "nearer", "below", "above"
BECAUSE = "because"
LINEAR, SUBLINEAR, RISING, FALLING, FLAT = "linear", "sublinear", "rising", "falling", "flat"
SHAPES = (LINEAR, SUBLINEAR, RISING, FALLING, FLAT)
"""The kinds of statements. A shape describes how a metric changes with the connections."""
BOTH = "both"
ITERATIVE = "iterative"
OVER_ITERATIVE = "_over_iterative"
"""Suffix of metrics that are differences from the iterative server."""
WHERE_KEYS = ("engine", "workers", "work", "load", "dialect", "rate", "idle", "slow", "backlog")
EQUAL_WITHIN = 0.1


@dataclass(frozen=True)
class EquivalenceMargin:
    """How far apart two equal figures may be: the wider of the two margins.

    For `below` and `above`, `amount` is the bound.
    """

    share: float | None = EQUAL_WITHIN
    amount: float | None = None
    """In `unit`; per request for sums."""
    unit: str = ""

    def words(self) -> str:
        """`10 % or 0.1 page faults`."""
        margins = [] if self.share is None else [f"{self.share * 100:g} %"]
        margins += [] if self.amount is None else [f"{self.amount:g} {self.unit}".strip()]
        return " or ".join(margins)


@dataclass(frozen=True, order=True)
class CellSelector:
    """Picks a cell of the study for a claim."""

    design: str
    connections: int


@dataclass(frozen=True)
class Statement:
    kind: str
    metric: str
    side: str
    """`both` if the sides are compared."""
    connections: tuple[int, ...]
    """Empty: all of the study."""
    groups: tuple[tuple[str, ...], ...]
    """Names from the smallest to the largest, those of one group equal: designs (order, ratio,
    growth) or sides (compare). The designs of `nearer` and `widens`, each alone; empty for shapes,
    below and above."""
    designs: tuple[str, ...]
    """The statement must hold for each of these; if the groups are designs, their members."""
    at_least: float | None = None
    """How many times as large the next is."""
    within: EquivalenceMargin = EquivalenceMargin()
    """The margin of equality or of a shape; the bound of `below` and `above`."""
    activities: tuple[str, ...] = ()
    """Of `because`: paths (recordings.py), which together are at least the share `at_least` of what
    the second design needs more than the first."""

    def selectors(self) -> Iterator[CellSelector]:
        """The cells that it needs, with the iterative server's if that is subtracted."""
        designs = list(self.designs)
        if self.metric.endswith(OVER_ITERATIVE) and ITERATIVE not in designs:
            designs.append(ITERATIVE)
        for count in self.connections:
            for design in designs:
                yield CellSelector(design, count)

    def signs(self) -> str:
        """`select < iterative ~ thread-per-client`."""
        names = [" ~ ".join(group) for group in self.groups]
        if self.kind in SHAPES:
            return f"{self.metric}: {self.kind} with the connections"
        if self.kind in (BELOW, ABOVE):
            return f"{self.metric} {'<' if self.kind == BELOW else '>'} {self.within.words()}"
        if self.kind == NEARER:
            return "{} nearer to {} than to {}".format(*names)
        if self.kind == WIDENS:
            return f"the gap of {', '.join(names)} widens"
        if self.kind == BECAUSE:
            share = f"at least {(self.at_least or 0.0) * 100:g} % of it for"
            return f"{' < '.join(names)}, {share} {' and '.join(map(last_name, self.activities))}"
        sign = " < " if self.at_least is None else f" × {self.at_least:g} ≤ "
        return f"{'growth: ' if self.kind == GROWTH else ''}{sign.join(names)}"


@dataclass(frozen=True)
class Claim:
    id: str
    says: str
    statements: tuple[Statement, ...]
    """All of them must hold."""
    said_at: str = ""
    """Where its source says so, in words."""
    note: str = ""
    """Ambiguities, misprints and interpretations."""
    source: str | None = None
    per: str = "process"
    """Whether the published figures are per `process` or per `request`."""
    published_agrees: bool = True
    where: Mapping[str, str | int] = field(default_factory=dict)
    """Further conditions on the cells: some of WHERE_KEYS."""
    process_engines: Mapping[str, str] = field(default_factory=dict)
    """For whole processes, by design: the client's engine, if it differs from the others'."""

    def selectors(self) -> list[CellSelector]:
        """All cells that it needs, without duplicates."""
        return list(
            dict.fromkeys(
                selector for statement in self.statements for selector in statement.selectors()
            )
        )


@dataclass(frozen=True)
class PublishedFigure:
    """One number of a claim's source."""

    design: str
    connections: int
    value: float
    unit: str
    """`ms`, `s`, `%`, or empty for a plain number."""
    per: str
    """`process`, `request`, or empty for a rate."""
    side: str = "server"
    metric: str = ""
    """The source's metric, if it differs from the claim's: `elapsed`."""
    column: str = ""
    """The source's column, if it has several: the book's machines and editions."""


@dataclass(frozen=True)
class RecordedClaim:
    claim: Claim
    source: str = ""
    """Title of the source; empty if the study names none."""
    published: tuple[PublishedFigure, ...] = ()


@dataclass(frozen=True)
class PublishedTable:
    """Published figures for a baseline."""

    source: str
    columns: list[str]
    rows: dict[str, list[float | None]]
    """By contender; None: not published."""
    at: int | None = None
    """The step of the axis that they belong to; None: any step."""


@dataclass(frozen=True)
class Baseline:
    """The contender whose server CPU time is subtracted from all others."""

    contender: str
    published: PublishedTable | None = None


@dataclass(frozen=True)
class RaceInputs:
    claims: tuple[RecordedClaim, ...] = ()
    """In the order of the study."""
    baseline: Baseline | None = None
    calibration: Calibration | str | None = None
    """The machine's newest calibration; or why it could not be read; None: there is none."""


INPUTS = TypeAdapter(RaceInputs)


def write_inputs(database: sqlite3.Connection, inputs: RaceInputs) -> None:
    """Written once, before the first trial: a row a field, as JSON."""
    for name, value in INPUTS.dump_python(inputs, mode="json").items():
        row = (name, json.dumps(value, ensure_ascii=False))
        database.execute("INSERT INTO inputs VALUES (?, ?)", row)


def read_inputs(database: sqlite3.Connection) -> RaceInputs:
    """ValueError, in a few words, for a damaged table."""
    found = {name: json.loads(value) for name, value in database.execute("SELECT * FROM inputs")}
    missing = sorted(RaceInputs.__dataclass_fields__.keys() - found.keys())
    if missing:
        raise ValueError(f"{missing[0]} is missing")
    return checked(INPUTS, found)
