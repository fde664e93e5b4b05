"""Functions of higher layers that a race calls; the verb passes them in, so none is imported."""

from collections.abc import Callable
from dataclasses import dataclass

from regatta.ledger.inputs.calibration import Calibration
from regatta.machine.sides.placement import Placement
from regatta.race.run_plan import Enough
from regatta.study import Study
from regatta.trial.warming import WarmUps


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
