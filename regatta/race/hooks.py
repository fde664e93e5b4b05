"""What a race needs of packages built on races. It imports none of them: a verb passes them in."""

from collections.abc import Callable
from dataclasses import dataclass

from regatta.ledger.given.calibration import Calibration
from regatta.machine.placed import Placement
from regatta.race.run_plan import WidestLead
from regatta.study import Study


@dataclass(frozen=True)
class Hooks:
    """By default none: the race does without."""

    spoilers: Callable[[Study, Placement], dict[str, str]] = lambda *_: {}
    """What on this machine spoils the race, by the doctor's check."""
    unseen: Callable[[Study], tuple[str, ...]] = lambda _: ()
    """What the study's verdicts cannot show, said before the first trial."""
    calibration: Callable[[], Calibration | str | None] = lambda: None
    """That of this machine, as the ledger is given it."""
    widest_lead: WidestLead = lambda _: None
    """Whether a race that asks for a width may end."""


NO_HOOKS = Hooks()
