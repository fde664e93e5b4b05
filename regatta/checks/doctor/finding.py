"""A finding of the doctor, as plain data for the JSON and in print, and where a race would run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, TypedDict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regatta.judge.estimates import digits
from regatta.judge.interval import Interval
from regatta.measure.network.steering import Steering
from regatta.measure.places.sides import Placement
from regatta.record.study.cpus import cpus_text
from regatta.record.study.limits import CONTAINERS, HOST, NETNS, OWN_SIDE

SERIOUS = "serious"
MINOR = "minor"
UNKNOWN = "unknown"
FINE = "fine"
STYLES = {SERIOUS: "bold red", MINOR: "yellow", UNKNOWN: "cyan", FINE: "green"}
LEVELS = tuple(STYLES)
"""The worst first. Serious: results would be wrong, or too noisy to decide anything."""

# Trials of the study quick differ by 3 to 5 % on our machine. A larger effect is beyond the noise
# that repetition averages out; one below 1 % disappears in it.
SERIOUS_PERCENT = 5.0
NEGLIGIBLE_PERCENT = 1.0

Words = tuple[str, ...]


class Remedy(TypedDict):
    fix: Words
    undo: Words


def switch(value: object, now: object, *commands: str) -> Remedy:
    """Commands with `{}` in place of a value: the new one, and what it is `now`."""
    fix, undo = (
        tuple(command.replace("{}", str(new)) for command in commands) for new in (value, now)
    )
    return {"fix": fix, "undo": undo}


@dataclass(frozen=True, kw_only=True)
class Effect(Interval):
    """The measured size of a problem on this machine: a mean with its 95 % interval."""

    what: str
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

    name: str = field(default="", kw_only=True)
    level: str
    says: str
    """The state of the machine, in one line."""
    matters: str = field(default="", kw_only=True)
    """Why it matters to a race."""
    fix: Words = ()
    """Commands that fix it, ready to copy."""
    undo: Words = ()
    advice: str = ""
    """What to do besides or instead of the commands."""
    effects: tuple[Effect, ...] = ()
    unmeasured: str = ""
    """Why a requested measurement failed."""


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

    @classmethod
    def of(cls, placement: Placement, connections: int | None = None) -> RaceSetup:
        return cls(
            placement.server.cpus,
            placement.client.cpus,
            placement.kind,
            connections,
            control_groups=placement.server.groups is not None,
            steering=placement.steering,
            network=placement.network,
        )

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


def level_of(effect: Effect) -> str:
    """The level of a measured effect in percent. One that may be 0 and is not serious is fine."""
    if effect.low > SERIOUS_PERCENT:
        return SERIOUS
    may_be_zero = effect.low <= 0 and effect.high < SERIOUS_PERCENT
    return FINE if may_be_zero or effect.high < NEGLIGIBLE_PERCENT else MINOR


def worst(level: str, effects: list[Effect]) -> str:
    """The worst of a level and those of the effects. Unknown is worse than fine."""
    return min([level, *map(level_of, effects)], key=LEVELS.index)


def as_plain(findings: list[Finding]) -> dict[str, Any]:
    """As in the JSON (docs/formats.md)."""
    serious = sum(finding.level == SERIOUS for finding in findings)
    return {"serious": serious, "findings": [asdict(finding) for finding in findings]}


INDENT = 9  # the width of the longest level and a space


def show(console: Console, findings: list[Finding], measured: bool | None) -> None:
    """Prints problems in full, one line for each check that is fine, and the counts.

    `measured`: whether effects were; None where none can be.
    """
    for finding in sorted(findings, key=lambda finding: LEVELS.index(finding.level)):
        bad = finding.level != FINE
        head = Text.assemble((f"{finding.name}: ", "bold"), finding.says)
        _print_row(console, Text(finding.level, STYLES[finding.level]), head)
        rows = [("why", finding.matters)] if bad else []
        rows += [("here", effect.text()) for effect in finding.effects]
        rows += [("here", f"not measured: {finding.unmeasured}")] if finding.unmeasured else []
        for word, text in rows:
            _print_row(console, Text(f"  {word}", "dim"), Text(text))
        if bad:
            _print_remedy(console, finding)
            console.print()
    console.print()
    counts = {level: sum(finding.level == level for finding in findings) for level in LEVELS}
    words = ", ".join(f"{count} {level}" for level, count in counts.items())
    verdict = "nothing here spoils a race."
    if counts[SERIOUS]:
        verdict = "fix the serious ones before you trust a race."
    lines = [f"{words}: {verdict}"]
    if measured is False:
        lines.append(
            "To measure how much each matters here: regatta doctor --measure (half a minute)"
        )
    for line in lines:
        console.print(line, markup=False, highlight=False)


def _print_remedy(console: Console, finding: Finding) -> None:
    for word, commands in (("fix", finding.fix), ("undo", finding.undo)):
        for command in commands:
            # Not wrapped, so that it can be copied.
            line = Text.assemble((f"  {word}".ljust(INDENT), "dim"), (command, "bold"))
            console.print(line, soft_wrap=True)
    if finding.advice:
        _print_row(console, Text("  do", "dim"), Text(finding.advice))


def _print_row(console: Console, word: Text, text: Text) -> None:
    """Prints a word and beside it a wrapped paragraph."""
    grid = Table.grid()
    grid.add_column(width=INDENT, no_wrap=True)
    grid.add_column()
    grid.add_row(word, text)
    console.print(grid)
