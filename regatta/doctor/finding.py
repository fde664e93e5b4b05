"""A finding of the doctor: plain data, from which the terminal and the JSON are made."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from regatta.analysis.numbers import digits
from regatta.machine.placed import CONTAINERS, HOST, NETNS
from regatta.machine.steering import OWN_SIDE, Steering
from regatta.study.cpus import cpus_text

SERIOUS = "serious"
MINOR = "minor"
UNKNOWN = "unknown"
FINE = "fine"
LEVELS = (SERIOUS, MINOR, UNKNOWN, FINE)
"""The worst first. Serious: results would be wrong, or too noisy to decide anything."""

# A trial of the study quick differs from the next by 3 to 5 % here: what takes more than that is
# larger than all that repeating is meant for, and what takes less than 1 % drowns in it.
SERIOUS_PERCENT = 5.0
NEGLIGIBLE_PERCENT = 1.0

MEASURE_IT = "Measure it: regatta doctor --measure"

Words = tuple[str, ...]


@dataclass(frozen=True)
class Effect:
    """How much something was measured to matter here: a mean with its 95 % interval."""

    what: str
    value: float
    low: float
    high: float
    unit: str
    samples: int

    def text(self) -> str:
        return (
            f"{self.what}: {digits(self.value)} {self.unit} "
            f"(95 % interval {digits(self.low)} to {digits(self.high)}, {self.samples} samples)"
        )


@dataclass(frozen=True)
class Finding:
    """One thing of this machine, how bad it is for a race, and what can be done."""

    name: str
    level: str
    says: str
    """What is, in one line."""
    matters: str
    """Why anyone should care."""
    fix: Words = ()
    """Commands that change it, to be typed as they are."""
    undo: Words = ()
    advice: str = ""
    """What to do where no command does it, or beside the commands."""
    effects: tuple[Effect, ...] = ()
    unmeasured: str = ""
    """Why it was not measured, though that was asked for."""

    def measured(self, effects: list[Effect], level: str, advice: str = "") -> Finding:
        """With what was measured, and the level that follows; advice stands in for none."""
        own_advice = "" if self.advice == MEASURE_IT else self.advice
        if level != FINE and not self.fix:
            own_advice = own_advice or advice
        return replace(self, effects=tuple(effects), level=level, advice=own_advice)


@dataclass(frozen=True)
class Subject:
    """What a check is about."""

    name: str
    matters: str
    """Why anyone should care."""

    def found(
        self, level: str, says: str, *, fix: Words = (), undo: Words = (), advice: str = ""
    ) -> Finding:
        return Finding(self.name, level, says, self.matters, fix, undo, advice)


@dataclass(frozen=True)
class RaceSetup:
    """Where a race would run, and with how many connections at a time."""

    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    placement: str
    connections: int | None = None
    """The most of any cell of the study that is about to be raced; None: no study is meant."""
    control_groups: bool = True
    """Whether each side gets a control group of its own."""
    steering: Steering = Steering(OWN_SIDE)
    """Whose CPUs process what arrives at the two ends of the cable."""
    network: str | None = None
    """That containers share, where sides are in some."""
    engine: str | None = None
    """The container engine that works here, if that was asked."""
    engine_refused: str | None = None
    """Why none does."""

    @property
    def has_own_network(self) -> bool:
        """Whether no other program of this machine is in a side's network."""
        return self.placement == NETNS or (self.placement == CONTAINERS and self.network != HOST)

    @property
    def pinned(self) -> tuple[int, ...]:
        return tuple(sorted({*self.server_cpus, *self.client_cpus}))

    def text(self) -> str:
        return (
            f"server on {cpus_text(self.server_cpus)}, client on {cpus_text(self.client_cpus)}, "
            f"placement {self.placement}"
        )


def level_of(effect: Effect, negligible: float = NEGLIGIBLE_PERCENT) -> str:
    """How bad a measured share (in %) is. One that may be none, and is not serious, is fine."""
    if effect.low > SERIOUS_PERCENT:
        return SERIOUS
    unseen = effect.low <= 0 and effect.high < SERIOUS_PERCENT
    return FINE if unseen or effect.high < negligible else MINOR


def worse(first: str, second: str) -> str:
    """Of two levels. What is not known is no better than what is fine."""
    return min(first, second, key=LEVELS.index)


def by_level(findings: list[Finding]) -> list[Finding]:
    """The worst first; within a level as they were found."""
    return sorted(findings, key=lambda finding: LEVELS.index(finding.level))


def as_json(setup: RaceSetup, findings: list[Finding], measured: bool) -> dict[str, Any]:
    """The whole examination as plain data (docs/formats.md)."""
    return {
        "situation": asdict(setup),
        "measured": measured,
        "serious": sum(finding.level == SERIOUS for finding in findings),
        "findings": [asdict(finding) for finding in findings],
    }
