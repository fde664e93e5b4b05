"""Recommends designs for a situation from this machine's races, and plans the deciding study."""

from regatta.advise.advice import Advice, AdviceRequest, advise
from regatta.advise.deciding import MARK, Deciding
from regatta.advise.evidence import SAME_MACHINE
from regatta.advise.show import print_advice, to_dict
from regatta.advise.situation import Situation, make_situation

__all__ = [
    "MARK",
    "SAME_MACHINE",
    "Advice",
    "Deciding",
    "AdviceRequest",
    "Situation",
    "advise",
    "make_situation",
    "print_advice",
    "to_dict",
]
