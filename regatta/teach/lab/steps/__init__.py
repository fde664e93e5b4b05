"""The steps of the lab, in order."""

from regatta.teach.lab.step import Step
from regatta.teach.lab.steps.asking import AskByHand, AskOnTwoCpus, AskWithMany
from regatta.teach.lab.steps.counting import CountBothSides, MakeTable
from regatta.teach.lab.steps.looking_back import LookBack, MakeGuess
from regatta.teach.lab.steps.racing import RaceThem, RunTenTimes

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
