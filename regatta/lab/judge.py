"""A guess, and the winner of a first table, held against the race."""

from collections.abc import Sequence

from regatta.analysis.results import Group
from regatta.analysis.standings import LARGER, NO_DIFFERENCE, Verdict
from regatta.lab.state import Guess
from regatta.report.text.numbers import between, times
from regatta.report.text.verdicts import headline, listed


def judged_guess(guess: Guess, group: Group) -> list[str]:
    """What the race says of the guess, in sentences."""
    verdict = group.overall
    who = f"The guess was {guess.design}. {judged_design([guess.design], group)}"
    if guess.by is None or verdict.lead is None or verdict.low is None or verdict.high is None:
        return [who]
    lead = (verdict.lead, verdict.low, verdict.high)
    found = f"{times(*lead, guess.by)} times ({between(*lead, guess.by)})"
    within = verdict.low <= guess.by <= verdict.high
    placed = "lies within the interval" if within else "lies outside the interval"
    return [who, f"The guess was {guess.by:g} times; the race found {found}: it {placed}."]


def judged_design(said: Sequence[str], group: Group) -> str:
    """What the race says of those who were said to need the least."""
    verdict = group.overall
    if verdict.outcome == LARGER:
        right = list(said) == list(verdict.best)
        return f"{'Right' if right else 'Wrong'}: {headline(group)}."
    if verdict.outcome == NO_DIFFERENCE:
        return _among(said, verdict)
    return f"The race does not decide it: {headline(group)}."


def _among(said: Sequence[str], verdict: Verdict) -> str:
    best = listed(verdict.best)
    if set(said) <= set(verdict.best):
        return f"Nobody can say: {best} are not distinguishable."
    return f"Wrong: {best} are ahead, and not distinguishable."
