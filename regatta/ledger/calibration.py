"""The record of a calibration: its goals, and its form in JSON, in a ledger and in its own file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

VERSION = 2
"""1 counted false alarms by drawing names within the blocks of one race."""
OUTCOME = "outcome"
"""In words: for whoever reads it; it follows from the rest."""
MOST_GOALS = 1_000
MET, NOT_REFUTED, MISSED, NOT_MEASURED = "met", "not refuted", "missed", "not measured"
"""What a goal can come to. Only what is missed is a failure, and only what is met is proven."""


@dataclass(frozen=True)
class Goal:
    """One thing that must hold, and whether it does."""

    name: str
    """What is judged, the same in every calibration: `p99 of a stopped server`."""
    goal: str
    """In words: `within 5 % of the truth`."""
    measured: str
    """In words, with its unit: `2.1 % above`. What could not be measured says why here."""
    met: bool | None
    """None: neither is shown, which is no failure of the instrument. It could not be measured here,
    or too little was: then it has a `value`."""
    detail: str = ""
    """One sentence more, for whoever wants to know how: sizes, sources, what it rests on."""
    value: float | None = None
    """`measured` as a number, in the goal's unit."""

    @property
    def outcome(self) -> str:
        if self.met is None:
            return NOT_MEASURED if self.value is None else NOT_REFUTED
        return MET if self.met else MISSED


@dataclass(frozen=True)
class Calibration:
    """The goals of all parts, and where and when they were measured."""

    taken_at: float
    """Seconds since 1970."""
    elapsed_s: float
    regatta_version: str
    machine: dict[str, Any]
    goals: tuple[Goal, ...]
    quick: bool = False
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
    """As JSON has it, in the file, in `--json` and in a ledger's environment."""
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
        raise ValueError("it is no object")
    if plain.get("version") != VERSION:
        raise ValueError(f"its version is {str(plain.get('version'))[:20]} and not {VERSION}")
    goals = plain.get("goals")
    if not isinstance(goals, list) or not 0 < len(goals) <= MOST_GOALS:
        raise ValueError("it has no list of goals")
    taken_at, elapsed_s = plain.get("taken_at"), plain.get("elapsed_s")
    if not is_number(taken_at) or not is_number(elapsed_s):
        raise ValueError("it does not say when it was taken")
    facts = plain.get("machine")
    if not isinstance(facts, dict):
        raise ValueError("it does not say on what machine it was taken")
    return Calibration(
        taken_at=float(taken_at),  # type: ignore[arg-type]
        elapsed_s=float(elapsed_s),  # type: ignore[arg-type]
        regatta_version=str(plain.get("regatta_version", "")),
        machine=facts,
        goals=tuple(read_goal(goal) for goal in goals),
        quick=plain.get("quick") is True,
        inject=plain["inject"] if isinstance(plain.get("inject"), str) else None,
    )


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15


def read_goal(plain: object) -> Goal:
    known = {field.name for field in fields(Goal)} | {OUTCOME}
    if not isinstance(plain, dict) or plain.keys() - known:
        raise ValueError("one of its goals is of another shape")
    words = (plain.get("name"), plain.get("goal"), plain.get("measured"), plain.get("detail", ""))
    if not all(isinstance(word, str) for word in words):
        raise ValueError("one of its goals lacks words")
    met, value = plain.get("met"), plain.get("value")
    if met is not None and not isinstance(met, bool):
        raise ValueError("one of its goals is neither met nor missed")
    if value is not None and not is_number(value):
        raise ValueError("one of its goals has a value that is no number")
    return Goal(*words[:3], met, words[3], value)  # type: ignore[arg-type]
