"""The steps of the lab, in order."""

from regatta.teach.lab.step import Step
from regatta.teach.lab.steps.asking import ASK_BY_HAND, ASK_ON_TWO_CPUS, ASK_WITH_MANY
from regatta.teach.lab.steps.counting import COUNT_BOTH_SIDES, MAKE_TABLE
from regatta.teach.lab.steps.looking_back import GUESS, LOOK_BACK, MAKE_GUESS, check_guess, in_words
from regatta.teach.lab.steps.racing import RACE_THEM, RUN_TEN_TIMES

__all__ = ["GUESS", "STEPS", "check_guess", "in_words"]

STEPS: tuple[Step, ...] = (
    ASK_BY_HAND,
    ASK_WITH_MANY,
    ASK_ON_TWO_CPUS,
    COUNT_BOTH_SIDES,
    MAKE_TABLE,
    MAKE_GUESS,
    RUN_TEN_TIMES,
    RACE_THEM,
    LOOK_BACK,
)
"""Each depends only on earlier ones."""
