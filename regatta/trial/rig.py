"""What all trials of a race share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from regatta.machine.perf import Perf
from regatta.machine.placement import Placement
from regatta.machine.programs import Programs
from regatta.study import Contender
from regatta.study.limits import DEFAULT_DISTURBANCE_LIMIT_PERCENT
from regatta.trial.canary import Canary

PADDING = "REGATTA_PADDING"


@dataclass(frozen=True)
class Rig:
    programs: Programs
    placement: Placement
    perf: Perf
    events: tuple[str, ...]
    warmup_rounds: int
    scratch: Path
    contenders: Mapping[str, Contender] = field(default_factory=dict)
    folder: Path = Path()
    """Of the study."""
    seed: int = 0
    disturbance_limit_percent: float = DEFAULT_DISTURBANCE_LIMIT_PERCENT
    """What others may use of one CPU during a trial before it counts as disturbed."""
    environment_bytes: int = 0
    """Of padding in the environment of every server."""

    def server_environment(self) -> dict[str, str]:
        """What every server, ours or not, is started with beside the lab's own environment."""
        return {PADDING: "x" * self.environment_bytes} if self.environment_bytes else {}

    canary: Canary | None = None
    """Tells the clock of the server's CPUs."""
