"""Verdicts as sentences: the winner, its lead, and whether the lead is significant."""

from collections.abc import Mapping, Sequence

from regatta.judge.estimates import CLIENT_BOUND, DISTURBED
from regatta.judge.results import Group
from regatta.judge.soundness.barred import ANSWERS
from regatta.judge.standings import (
    ALONE,
    FAILED,
    LARGER,
    NO_DIFFERENCE,
    NOT_EVERYWHERE,
    NOT_MEASURED,
    ONLY,
    RIVALS,
    TOO_FEW,
    TOO_SLOW,
    UNCONFIRMED,
    Verdict,
)
from regatta.record.metrics import PRIMARY
from regatta.show.numbers import between, percent, times, value_of

REASONS = {
    CLIENT_BOUND: "its client was the bottleneck",
    DISTURBED: "other programs took CPU from its client",
    TOO_SLOW: "it does not hold the rate",
    NOT_EVERYWHERE: "it did not race at every step",
    TOO_FEW: "it shares too few blocks or sittings with the others",
}
"""Why a contender cannot win, as a clause."""

LEGEND = (
    "★ needs the least server CPU per request: all others are shown to need more, and busy time "
    "does not contradict it. "
    "☆ not distinguishable from the least. Stars rest on ratios paired within blocks."
)
FAMILIES = (
    "Server CPU per request is the primary metric: all comparisons of a table are one family, with "
    "a family-wise error rate of 5 %. Every other column, the differences to a baseline and the "
    "claims are secondary, each a separate family."
)


def mark(verdict: Verdict, contender: str) -> str:
    """The contender's star in a table; empty if it has none."""
    if contender not in verdict.starred:
        return ""
    return "★" if verdict.outcome == LARGER else "☆"


def verdict_sentence(group: Group, verdict: Verdict) -> str:
    where = group.axis.over_all() if verdict.at is None else group.axis.at(verdict.at)
    ahead = verdict.best or ((verdict.front,) if verdict.front else ())
    names = _named(group, verdict, ahead)
    if verdict.outcome == NOT_MEASURED:
        return f"{where} no ranking: {_missing(verdict)}."
    if verdict.outcome in (ALONE, ONLY):
        return f"{where} {_only(verdict, names)}"
    if verdict.outcome == TOO_FEW:
        return (
            f"{where} {names[0]} needed the least server CPU per request, but that may be noise: "
            f"fewer than {group.units.fewest} {group.units.name} can be paired."
        )
    if verdict.outcome == NO_DIFFERENCE:
        others = "; all others need more" if verdict.worse and not verdict.rivals else ""
        return (
            f"{where} {listed(names)} are not distinguishable by server CPU per request"
            f"{others}. {_lead(group, verdict)}{_rivals(verdict.rivals)}"
        ).strip()
    if verdict.outcome == RIVALS:
        return f"{where} {_held_back(group, verdict, names)}"
    return (
        f"{where} {names[0]} needs the least server CPU per request, by a clear margin. "
        f"{_lead(group, verdict)}"
    )


def headline(group: Group) -> str:
    """The overall verdict in a few words."""
    verdict = group.overall
    first = verdict.front
    if verdict.outcome == NOT_MEASURED or first is None:
        return "No ranking"
    if verdict.outcome == LARGER and verdict.lead is not None:
        return (
            f"{first} needs the least server CPU; "
            f"{verdict.runner_up} takes {times(verdict.lead)} times as much"
        )
    also = f", and {listed(list(verdict.rivals))} may be as good" if verdict.rivals else ""
    ahead = f"{first} is ahead, but {listed(list(verdict.rivals))} may be as good"
    if first in verdict.rivals:
        ahead = f"{first} needs the least server CPU, but {_why(verdict, first)}"
    says = {
        NO_DIFFERENCE: f"{listed(verdict.best)} are not distinguishable{also}",
        RIVALS: ahead,
        ALONE: f"{first} raced alone",
        ONLY: f"{first} is the only one that could be measured",
    }
    too_few = f"{first} is ahead, with too few {group.units.name} to be sure"
    return says.get(verdict.outcome, too_few)


def _why(verdict: Verdict, rival: str) -> str:
    why = verdict.rivals[rival]
    return REASONS.get(why, f"it {why}" if why.startswith((FAILED, ANSWERS)) else f"it is {why}")


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _named(group: Group, verdict: Verdict, ahead: Sequence[str]) -> list[str]:
    """The best contenders, or the front-runner, each with its CPU time."""
    cells = [] if verdict.at is None else group.at(verdict.at)
    cpu = {of.cell.contender: value_of(of.estimates["server", PRIMARY.name]) for of in cells}
    return [f"{name} ({cpu[name]} {PRIMARY.unit})" if name in cpu else name for name in ahead]


def _missing(verdict: Verdict) -> str:
    """Why no contender has a figure."""
    reasons = sorted(set(verdict.rivals.values()) - {NOT_MEASURED})
    if not reasons:
        return "no trial measured the server's CPU time"
    rivals = verdict.rivals
    return "; ".join(
        f"{listed([name for name in rivals if rivals[name] == why])} {why}" for why in reasons
    )


def _only(verdict: Verdict, names: list[str]) -> str:
    if verdict.outcome == ALONE:
        return f"{names[0]} raced alone; there is nothing to compare it with."
    others = [name for name in verdict.rivals if name != verdict.front]
    reasons = [f"{name} {verdict.rivals[name]}" for name in others]
    return f"{names[0]} is the only one that could be measured; {listed(reasons)}."


def _lead(group: Group, verdict: Verdict) -> str:
    if verdict.lead is None:
        return ""
    unconfirmed = verdict.rivals.get(verdict.runner_up or "") == UNCONFIRMED
    lead = (
        f"The next, {verdict.runner_up}, {'is charged' if unconfirmed else 'needs'} "
        f"{times(verdict.lead)} times as much (95 % interval {between(verdict.lead)})."
    )
    if verdict.outcome != NO_DIFFERENCE:
        return lead
    if verdict.detectable is None:
        return f"{lead} Too few {group.units.name} to say what is detectable."
    return f"{lead} Detectable at 80 % power: {percent(verdict.detectable - 1)}."


def _rivals(reasons: Mapping[str, str]) -> str:
    rivals = [f"{name} ({why})" for name, why in reasons.items()]
    return f" {listed(rivals)} may be as good." if rivals else ""


def _held_back(group: Group, verdict: Verdict, names: list[str]) -> str:
    if verdict.front in verdict.rivals:
        [front] = _named(group, verdict, [verdict.front])
        return (
            f"there is no winner: {front} needs the least server CPU per request, but "
            f"{_why(verdict, verdict.front)}. {_lead(group, verdict)}"
        ).strip()
    unconfirmed = [name for name, why in verdict.rivals.items() if why == UNCONFIRMED]
    if unconfirmed:
        others = {name: why for name, why in verdict.rivals.items() if why != UNCONFIRMED}
        return (
            f"there is no winner: {names[0]} is charged the least server CPU per request, but busy "
            f"time does not show its lead over {listed(unconfirmed)}. "
            f"{_lead(group, verdict)}{_rivals(others)}"
        )
    return (
        f"{names[0]} needs the least server CPU per request of those that can be compared. "
        f"{_lead(group, verdict)}{_rivals(verdict.rivals)}"
    )
