"""The steps of the lab, in order."""

from regatta.lab.step import Step
from regatta.lab.steps.asking import AskByHand, AskOnTwoCpus, AskWithMany
from regatta.lab.steps.counting import CountBothSides, MakeTable
from regatta.lab.steps.guessing import MakeGuess
from regatta.lab.steps.looking_back import LookBack
from regatta.lab.steps.racing import RaceThem, RunTenTimes

STEPS: tuple[Step, ...] = (
    AskByHand(),
    AskWithMany(),
    AskOnTwoCpus(),
    CountBothSides(),
    MakeTable(),
    MakeGuess(),
    RunTenTimes(),
    RaceThem(),
    LookBack(),
)
"""Each depends only on earlier ones."""
