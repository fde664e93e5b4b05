"""The settings that all trials of a race share."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from regatta.measure.perf import Perf
from regatta.measure.places.side import SidePlacement
from regatta.measure.places.sides import Placement
from regatta.measure.programs import Programs
from regatta.measure.trial.canary import Canary
from regatta.measure.trial.side import Side
from regatta.measure.trial.warming import WarmUps
from regatta.record.study import Contender
from regatta.record.study.limits import DEFAULT_DISTURBANCE_LIMIT_PERCENT

PADDING = "REGATTA_PADDING"


def fresh_scratch(folder: Path) -> None:
    """Creates an empty folder for the files of one trial; removes leftovers of a killed race."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


@dataclass(frozen=True)
class TrialSetup:
    programs: Programs
    placement: Placement
    perf: Perf
    events: tuple[str, ...]
    scratch: Path
    contenders: Mapping[str, Contender] = field(default_factory=dict)
    no_trace: str | None = None
    """Why requests cannot be followed; None if they can."""
    folder: Path = Path()
    """The study's folder."""
    warm_ups: WarmUps = field(default_factory=lambda: WarmUps(0.0))
    """How long servers are warmed, and how they became warm so far."""
    seed: int = 0
    disturbance_limit_percent: float = DEFAULT_DISTURBANCE_LIMIT_PERCENT
    """Percent of a CPU that others may use before a trial is disturbed."""
    whole_cost: bool = False
    """Whether to measure each server's start-up time and memory too."""
    environment_bytes: int = 0
    """Bytes of padding in every server's environment."""
    expected: Mapping[tuple[str, str | None], str] = field(default_factory=dict)
    """By contender and what it is asked, the client's file of what the answers must be."""

    ends_s: float | None = None
    """When the race should be over, by time.monotonic(); None: it takes what it takes."""
    canary: Canary | None = None

    def side(
        self, where: SidePlacement, name: str, accounted: bool = False, **counted: bool
    ) -> Side:
        """A side of a trial, created on its host; see ProgramSpec for how it is counted."""
        folder = where.folder(self.scratch)
        counted |= {"accounted": accounted, "weighed": accounted and self.whole_cost}
        return where.make(Side, name, folder, **counted)

    def clear_scratch(self) -> None:
        """Empties the scratch folder on every host."""
        for side in self.placement.hosts:
            side.ask(fresh_scratch, side.folder(self.scratch))

    def server_environment(self) -> dict[str, str]:
        """Environment variables that every server gets in addition to the lab's."""
        return {PADDING: "x" * self.environment_bytes} if self.environment_bytes else {}
