"""What all trials of a race share."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from regatta.machine.perf import Perf
from regatta.machine.placed import Placement
from regatta.machine.programs import Programs
from regatta.machine.side_placement import SidePlacement
from regatta.study import Contender
from regatta.study.limits import DEFAULT_DISTURBANCE_LIMIT_PERCENT
from regatta.trial.canary import Canary
from regatta.trial.side import Side

PADDING = "REGATTA_PADDING"


def fresh_scratch(folder: Path) -> None:
    """An empty folder for the files of one trial; leftovers of a killed race are removed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


@dataclass(frozen=True)
class TrialSetup:
    programs: Programs
    placement: Placement
    perf: Perf
    events: tuple[str, ...]
    warmup_rounds: int
    scratch: Path
    contenders: Mapping[str, Contender] = field(default_factory=dict)
    folder: Path = Path()
    """The study's."""
    seed: int = 0
    disturbance_limit_percent: float = DEFAULT_DISTURBANCE_LIMIT_PERCENT
    """Percent of a CPU that others may use before a trial is disturbed."""
    environment_bytes: int = 0
    """Bytes of padding in every server's environment."""

    def side(
        self,
        where: SidePlacement,
        name: str,
        accounted: bool = False,
        whole: bool = False,
        counts_taskset: bool = False,
    ) -> Side:
        """A side of a trial, made where it lives."""
        folder = where.folder(self.scratch)
        return where.make(Side, name, folder, accounted, whole, counts_taskset)

    def clear_scratch(self) -> None:
        """On every host."""
        for side in self.placement.hosts:
            side.ask(fresh_scratch, side.folder(self.scratch))

    def server_environment(self) -> dict[str, str]:
        """What every server's environment has beside the lab's own."""
        return {PADDING: "x" * self.environment_bytes} if self.environment_bytes else {}

    canary: Canary | None = None
    """Measures the clock of the server's CPUs."""
