"""What all trials of a race share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from regatta.perf import Perf
from regatta.placement import Placement
from regatta.programs import Programs
from regatta.study import Contender


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
