"""The record of a calibration: its goals, and its form in JSON, in its own file."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool, TypeAdapter

from regatta.ledger.plain import checked

VERSION = 2
"""1 counted false alarms by drawing names within the blocks of one race."""
OUTCOME = "outcome"
"""In words: for whoever reads it; it follows from the rest."""
MOST_GOALS = 1_000
MET, NOT_REFUTED, MISSED, NOT_MEASURED = "met", "not refuted", "missed", "not measured"
"""What a goal can come to. Only what is missed is a failure, and only what is met is proven."""


Number = Annotated[float, Field(strict=True, gt=-1e15, lt=1e15)]


@dataclass(frozen=True)
class Goal:
    """One thing that must hold, and whether it does."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: str
    """What is judged, the same in every calibration: `p99 of a stopped server`."""
    goal: str
    """In words: `within 5 % of the truth`."""
    measured: str
    """In words, with its unit: `2.1 % above`. What could not be measured says why here."""
    met: StrictBool | None
    """None: neither is shown, which is no failure of the instrument. It could not be measured here,
    or too little was: then it has a `value`."""
    detail: str = ""
    """One sentence more, for whoever wants to know how: sizes, sources, what it rests on."""
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
        """Of all together: the worst of what was measured."""
        worst_first = (MISSED, NOT_REFUTED, MET)
        return next((word for word in worst_first if self.that_are(word)), NOT_MEASURED)


def to_plain(calibration: Calibration) -> dict[str, Any]:
    """As JSON has it, in the file and in `--json`."""
    plain = asdict(calibration)
    return {
        "version": VERSION,
        **plain,
        "goals": [{**asdict(goal), OUTCOME: goal.outcome} for goal in calibration.goals],
        "met": {MET: True, MISSED: False}.get(calibration.outcome),
        OUTCOME: calibration.outcome,
    }


def from_plain(plain: object) -> Calibration:
    """The reverse; ValueError where it is something else, in a few words."""
    if not isinstance(plain, dict):
        raise ValueError("it is not an object")
    if plain.get("version") != VERSION:
        raise ValueError(f"its version is {str(plain.get('version'))[:20]} and not {VERSION}")
    return checked(CALIBRATION_ADAPTER, plain)


def read_goals(plain: object) -> tuple[Goal, ...]:
    """Those of a part; ValueError where it is something else."""
    return checked(GOALS_ADAPTER, plain)


CALIBRATION_ADAPTER, GOALS_ADAPTER = TypeAdapter(Calibration), TypeAdapter(Goals)
