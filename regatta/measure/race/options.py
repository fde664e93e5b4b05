"""The options that override a study, the resulting settings of a race, and what it calls in the
layers above it.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from regatta.measure.places.sides import Placement
from regatta.measure.race.run_plan import Enough
from regatta.measure.trial.warming import WarmUps
from regatta.record.inputs import Calibration
from regatta.record.study import Study, cut_blocks
from regatta.record.study.parse import WHY_BLOCKS


@dataclass(frozen=True)
class Hooks:
    """The defaults do nothing."""

    spoilers: Callable[[Study, Placement], dict[str, str]] = lambda *_: {}
    """Problems of this machine that spoil the race, by name of the doctor's check."""
    unseen: Callable[[Study], tuple[str, ...]] = lambda _: ()
    """What the study's verdicts cannot show, as notes before the first trial."""
    calibration: Callable[[], Calibration | str | None] = lambda: None
    """This machine's calibration, for the ledger."""
    fit: Callable[[Study, WarmUps], Study] = lambda study, _: study
    """The study with as many blocks as its time allows, once the warm-ups are known."""
    ends_s: float | None = None
    """When the race should be over, by time.monotonic(): repeats must not take longer."""
    enough: Enough = lambda *_: None
    """Why a race with a target width may end."""


NO_HOOKS = Hooks()


MAX_CHOSEN_SEED = 2**31 - 1


@dataclass(frozen=True)
class Options:
    """Options of the command line that override the study."""

    out: Path | None = None
    seed: int | None = None
    blocks: int | None = None
    sittings: int | None = None
    pause_s: int | None = None
    placement: str | None = None
    server_cpus: tuple[int, ...] | None = None
    client_cpus: tuple[int, ...] | None = None
    steering: str | None = None
    use_perf: bool = True
    quick: bool = False
    why: bool = False


def apply(study: Study, options: Options) -> Study:
    study = cut_blocks(study) if options.quick else study
    sittings = options.sittings or study.sittings
    # An explicit number of blocks or sittings overrides a target width.
    keeps_width = options.blocks is None and sittings == 1
    return study.but(
        sampled_blocks=max(study.sampled_blocks, WHY_BLOCKS if options.why else 0),
        blocks=study.blocks if options.blocks is None else options.blocks,
        width_percent=study.width_percent if keeps_width else None,
        most_blocks=study.most_blocks if keeps_width else None,
        sittings=sittings,
        pause_s=study.pause_s if options.pause_s is None else options.pause_s,
        placement=options.placement or study.placement,
        server_cpus=options.server_cpus or study.server_cpus,
        client_cpus=options.client_cpus or study.client_cpus,
        steering=options.steering or study.steering,
    )


def choose_seed(study: Study, options: Options) -> int:
    drawn = random.SystemRandom().randint(0, MAX_CHOSEN_SEED)
    return next(seed for seed in (options.seed, study.seed, drawn) if seed is not None)
