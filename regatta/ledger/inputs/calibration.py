"""The record of a calibration, and its JSON format."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool, TypeAdapter

from regatta.ledger.validation import checked

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

    __pydantic_config__ = ConfigDict(extra="forbid")

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


def without_outcome(plain: Any) -> Any:
    if not isinstance(plain, dict):
        return plain
    return {name: value for name, value in plain.items() if name != OUTCOME}


Goals = Annotated[
    tuple[Annotated[Goal, BeforeValidator(without_outcome)], ...],
    Field(min_length=1, max_length=MOST_GOALS),
]


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


def read_goals(plain: object) -> tuple[Goal, ...]:
    """The goals of one part; ValueError for anything else."""
    return checked(GOALS_ADAPTER, plain)


CALIBRATION_ADAPTER, GOALS_ADAPTER = TypeAdapter(Calibration), TypeAdapter(Goals)
