"""The options that override a study, and the resulting settings of a race."""

import random
from dataclasses import dataclass
from pathlib import Path

from regatta.study import Study, cut_blocks

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


@dataclass(frozen=True)
class Setting:
    """The settings that a race starts with and keeps when it is resumed."""

    study: Study
    seed: int
    use_perf: bool


def apply(study: Study, options: Options) -> Study:
    """The study with the command line's overrides."""
    study = cut_blocks(study) if options.quick else study
    sittings = options.sittings or study.sittings
    # An explicit number of blocks or sittings overrides a target width.
    keeps_width = options.blocks is None and sittings == 1
    return study.but(
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
    for seed in (options.seed, study.seed):
        if seed is not None:
            return seed
    return random.SystemRandom().randint(0, MAX_CHOSEN_SEED)
