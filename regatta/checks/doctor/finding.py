"""A finding of the doctor, as plain data for the terminal and the JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, TypedDict

from regatta.judge.estimates import digits
from regatta.measure.network.steering import Steering
from regatta.record.study.cpus import cpus_text
from regatta.record.study.limits import CONTAINERS, HOST, NETNS, OWN_SIDE

SERIOUS = "serious"
MINOR = "minor"
UNKNOWN = "unknown"
FINE = "fine"
LEVELS = (SERIOUS, MINOR, UNKNOWN, FINE)
"""The worst first. Serious: results would be wrong, or too noisy to decide anything."""

# Trials of the study quick differ by 3 to 5 % on our machine. A larger effect is beyond the noise
# that repetition averages out; one below 1 % disappears in it.
SERIOUS_PERCENT = 5.0
NEGLIGIBLE_PERCENT = 1.0

MEASURE_IT = "Measure it: regatta doctor --measure"

Words = tuple[str, ...]


class Remedy(TypedDict):
    fix: Words
    undo: Words


def sysctl(name: str, value: object, now: object) -> Remedy:
    """Sets it to `value`, and back to what it is `now`."""
    fix, undo = (f"sudo sysctl {name}={one}" for one in (value, now))
    return {"fix": (fix,), "undo": (undo,)}


@dataclass(frozen=True)
class Effect:
    """The measured size of a problem on this machine: a mean with its 95 % interval."""

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
    """One property of this machine, how bad it is for a race, and what to do."""

    name: str
    level: str
    says: str
    """The state of the machine, in one line."""
    matters: str
    """Why it matters to a race."""
    fix: Words = ()
    """Commands that fix it, ready to copy."""
    undo: Words = ()
    advice: str = ""
    """What to do besides or instead of the commands."""
    effects: tuple[Effect, ...] = ()
    unmeasured: str = ""
    """Why a requested measurement failed."""

    def measured(self, effects: list[Effect], level: str, advice: str = "") -> Finding:
        """The finding with its effects and new level. `advice` is used if it had none."""
        own_advice = "" if self.advice == MEASURE_IT else self.advice
        if level != FINE and not self.fix:
            own_advice = own_advice or advice
        return replace(self, effects=tuple(effects), level=level, advice=own_advice)


@dataclass(frozen=True)
class Subject:
    """The name of a check, and why it matters to a race."""

    name: str
    matters: str

    def found(
        self, level: str, says: str, *, fix: Words = (), undo: Words = (), advice: str = ""
    ) -> Finding:
        return Finding(self.name, level, says, self.matters, fix, undo, advice)


@dataclass(frozen=True)
class RaceSetup:
    """Where a race would run, and with how many concurrent connections."""

    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    placement: str
    connections: int | None = None
    """The most of any cell of the study to be raced; None without a study."""
    control_groups: bool = True
    """Whether each side gets a control group of its own."""
    steering: Steering = Steering(OWN_SIDE)
    """Which CPUs process the packets that arrive at each end of the cable."""
    network: str | None = None
    """The network of the containers, if the sides run in containers."""
    engine: str | None = None
    """The container engine that works here; None if none does or none was tried."""
    engine_refused: str | None = None
    """Why no container engine works."""

    @property
    def has_own_network(self) -> bool:
        """Whether the sides share their networks with no other program of this machine."""
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
    """The level of a measured effect in percent. One that may be 0 and is not serious is fine."""
    if effect.low > SERIOUS_PERCENT:
        return SERIOUS
    may_be_zero = effect.low <= 0 and effect.high < SERIOUS_PERCENT
    return FINE if may_be_zero or effect.high < negligible else MINOR


def worse(first: str, second: str) -> str:
    """The worse of two levels. Unknown is worse than fine."""
    return min(first, second, key=LEVELS.index)


def by_level(findings: list[Finding]) -> list[Finding]:
    """The worst first, in stable order."""
    return sorted(findings, key=lambda finding: LEVELS.index(finding.level))


def as_json(setup: RaceSetup, findings: list[Finding], measured: bool) -> dict[str, Any]:
    """The examination as plain data (docs/formats.md)."""
    return {
        "situation": asdict(setup),
        "measured": measured,
        "serious": sum(finding.level == SERIOUS for finding in findings),
        "findings": [asdict(finding) for finding in findings],
    }
