"""Verdicts in plain words: who won, by how much, and whether that is a clear margin."""

import math
from collections.abc import Sequence

from regatta.analysis.analyse import Analysis, CellResult, Group
from regatta.analysis.estimates import CLIENT_BOUND, DISTURBED
from regatta.analysis.metrics import PRIMARY
from regatta.analysis.soundness.client_limit import uses_more_cpus
from regatta.analysis.soundness.rate import is_held
from regatta.analysis.soundness.warmup import WarmUp
from regatta.analysis.standings import (
    ALONE,
    LARGER,
    NO_DIFFERENCE,
    NOT_MEASURED,
    ONLY,
    RIVALS,
    TOO_FEW,
    TOO_SLOW,
    Verdict,
)
from regatta.report.text.numbers import between, percent, plural, times, value_of

REASONS = {
    CLIENT_BOUND: "that is known at its client's limit alone",
    DISTURBED: "others took its client's CPU, so that is at another pace",
    TOO_SLOW: "it does not hold the rate, so that is under another load",
    TOO_FEW: "too few of its blocks or sittings can be paired with another's",
}
"""Why somebody cannot win, in a sentence."""

STARRED = (LARGER, NO_DIFFERENCE, RIVALS)

HELD_UP = "the client fell behind where others took its CPU"
LEGEND = (
    "★ least server CPU per request: all others are shown to need more. "
    "☆ may be the least: nobody is shown to need less. Stars compare ratios within blocks."
)
FAMILIES = (
    "Server CPU per request is what a race is about: all contenders at all steps of a table are "
    "one family, right as a whole in 19 of 20 tables. All else is secondary, and each a family of "
    "its own: every other column, the differences to a baseline, the claims."
)


def mark(verdict: Verdict, contender: str) -> str:
    """The star of a contender in a table; empty for who has none."""
    if contender not in verdict.best or verdict.outcome not in STARRED:
        return ""
    return "★" if verdict.outcome == LARGER else "☆"


def place(group: Group, verdict: Verdict) -> str:
    return group.axis.over_all() if verdict.at is None else group.axis.at(verdict.at)


def verdict_sentence(group: Group, verdict: Verdict) -> str:
    where = place(group, verdict)
    names = _named(group, verdict)
    if verdict.outcome == NOT_MEASURED:
        return f"{where} nobody can be ranked: {_missing(verdict)}."
    if verdict.outcome in (ALONE, ONLY):
        return f"{where} {_only(verdict, names)}"
    if verdict.outcome == TOO_FEW:
        return (
            f"{where} {names[0]} needed the least server CPU per request, but whether that is "
            f"noise cannot be said: fewer than {group.units.fewest} {group.units.name} can be "
            "paired."
        )
    if verdict.outcome == NO_DIFFERENCE:
        return (
            f"{where} there is no difference that this race could see between {listed(names)} in "
            f"server CPU per request{_worse(verdict)}. {_lead(group, verdict)}{_rivals(verdict)}"
        ).strip()
    if verdict.outcome == RIVALS:
        return f"{where} {_held_back(group, verdict, names)}"
    return (
        f"{where} {names[0]} needs the least server CPU per request. {_lead(group, verdict)} That "
        "is larger than the noise."
    )


def headline(group: Group) -> str:
    """The overall verdict in a few words."""
    verdict = group.overall
    first = verdict.front
    if verdict.outcome == NOT_MEASURED or first is None:
        return "Nobody can be ranked"
    if verdict.outcome == LARGER and verdict.lead is not None:
        return (
            f"{first} needs the least server CPU; "
            f"{verdict.runner_up} takes {times(verdict.lead)} times as much"
        )
    says = {
        NO_DIFFERENCE: f"No difference seen between {listed(verdict.best)}{_beside(verdict)}",
        RIVALS: _ahead(verdict, first),
        ALONE: f"{first} raced alone",
        ONLY: f"{first} is the only one that could be measured",
    }
    too_few = f"{first} is ahead, with too few {group.units.name} to be sure"
    return says.get(verdict.outcome, too_few)


def _ahead(verdict: Verdict, first: str) -> str:
    if first in verdict.rivals:
        return f"{first} needs the least server CPU, but {_why(verdict, first)}"
    return f"{first} is ahead, but {listed(list(verdict.rivals))} may be as good"


def _beside(verdict: Verdict) -> str:
    """Who cannot win, and may be as good all the same."""
    return f", and {listed(list(verdict.rivals))} may be as good" if verdict.rivals else ""


def _why(verdict: Verdict, rival: str) -> str:
    return REASONS.get(verdict.rivals[rival], f"it is {verdict.rivals[rival]}")


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def failure_sentence(analysis: Analysis) -> str:
    """Empty if every trial went well."""
    if not analysis.failures:
        return ""
    names = sorted({failure.cell.contender for failure in analysis.failures})
    return (
        f"{plural(len(analysis.failures), 'trial')} of {analysis.trials} failed "
        f"({', '.join(names)}); they are in no average."
    )


def rate_words(result: CellResult) -> str:
    """What a cell of an open load says that was not what was asked for; empty if it was."""
    if result.started is None or is_held(result.started):
        return ""
    # Downwards: 98.98 % is not 99 %.
    shown = math.floor(result.started * 1000) / 10
    return f"does not hold the rate: started {shown:.{1 if shown > 90 else 0}f} % of what was due"


def client_bound_sentence(analysis: Analysis) -> str:
    """Empty if the client kept up in every trial."""
    if not analysis.client_bound:
        return ""
    names = sorted({noted.cell.contender for noted in analysis.client_bound})
    bound = [result for group in analysis.groups for result in group.cells if result.client_bound]
    rated = [result for result in bound if result.comfortable_rate is not None]
    helps = client_help(min(rated, key=_rate)) if rated else "more CPUs for the client"
    return (
        f"In {plural(len(analysis.client_bound), 'trial')} of {analysis.trials} the client was "
        f"the bottleneck ({', '.join(names)}): their times and throughput show what the client can "
        "do, and are in no average. What the server used stands in the table where most trials of "
        "a cell are so, as of its client's limit; it wins nothing there. "
        f"What helps: {helps}."
    )


def _rate(result: CellResult) -> int:
    return result.comfortable_rate or 0


def client_help(result: CellResult) -> str:
    """What would have kept the client of this cell from being the bottleneck."""
    what = "a `rate`" if result.cell.load == "open" else "an open load"
    rate = f"{what} of at most {_rate(result):,} a second, where the client is at half its capacity"
    if not uses_more_cpus(result.cell):
        return rate
    return f"{rate}, or more `client_cpus` in `[placement]` (--client-cpus)"


def cell_words(result: CellResult) -> str:
    """What a reader must know of a cell beside its figures; empty if there is nothing."""
    if result.client_bound and result.comfortable_rate is not None:
        return f"client-bound: {client_help(result)} would help"
    if result.held_up:
        return f"disturbed: {HELD_UP}"
    return rate_words(result)


def warm_up_sentence(analysis: Analysis) -> str:
    """Empty if no contender was still warming up when the measuring began."""
    parts = [_cold(one) for one in analysis.warm_ups if one.too_short]
    if not parts:
        return ""
    return f"The warm-up was too short for {'; for '.join(parts)}. Raise `warmup_rounds`."


def _cold(one: WarmUp) -> str:
    first = (
        f"the first {percent(one.segment)} of a trial's requests took {times(one.first)} times as "
        "long as the last"
    )
    if one.share is None or one.ratio is None or 2 * one.early < one.tested:
        return f"{one.contender}: {first}"
    return (
        f"{one.contender}: {first}, and {one.early} of {plural(one.tested, 'trial')} changed early "
        f"({one.late} late), after {percent(one.share)} of their requests, which took "
        f"{times(one.ratio)} times as long as the rest"
    )


def disturbed_sentence(analysis: Analysis) -> str:
    """Empty if nothing else took the CPUs of any trial."""
    if not analysis.disturbed:
        return ""
    again = sum(noted.trial.superseded for noted in analysis.disturbed)
    late = sum(
        noted.trial.held_up is not None and not noted.trial.superseded
        for noted in analysis.disturbed
    )
    kept = len(analysis.disturbed) - again - late
    limit = analysis.environment.get("disturbance_limit_percent")
    parts = [f"{again} run again, of which only the last attempt counts"] if again else []
    if kept:
        parts.append(f"{kept} kept in the averages")
    if late:
        parts.append(f"{late} whose times are in no average, because {HELD_UP}")
    more = f"more than {limit:g} % of a CPU" if isinstance(limit, int | float) else "too much"
    return (
        f"{plural(len(analysis.disturbed), 'trial')} disturbed: other programs or the host took "
        f"{more} meanwhile; {', '.join(parts)}."
    )


def left_out_sentence(analysis: Analysis) -> str:
    """Empty if every design of the study could run."""
    if not analysis.left_out:
        return ""
    parts = [f"{name} ({reason})" for name, reason in analysis.left_out.items()]
    return f"Left out, because this machine cannot run it: {', '.join(parts)}."


def progress_sentence(analysis: Analysis) -> str:
    """Empty if the race ran all that was planned."""
    if analysis.held and not analysis.planned:
        return (
            "This race is not finished: what each contender holds is not known yet. Finish it with "
            "`regatta race --resume`."
        )
    early = analysis.meta.get("ended_early")
    if early and analysis.trials >= analysis.planned:
        return f"This race ended early, as its study asks it to, {early}."
    if analysis.trials >= analysis.planned:
        return ""
    return (
        f"This race is not finished: {analysis.trials} of {plural(analysis.planned, 'trial')} "
        "so far. Finish it with `regatta race --resume`."
    )


def _named(group: Group, verdict: Verdict) -> list[str]:
    """Who is ahead, with what they need; else whoever needed the least."""
    ahead = verdict.best or ((verdict.front,) if verdict.front else ())
    return [f"{name}{_cpu(group, verdict, name)}" for name in ahead]


def _missing(verdict: Verdict) -> str:
    """Why nobody has a figure."""
    reasons = sorted(set(verdict.rivals.values()) - {NOT_MEASURED})
    if not reasons:
        return "no trial measured the server's CPU time"
    return "; ".join(f"{listed(_with(verdict, why))} {why}" for why in reasons)


def _only(verdict: Verdict, names: list[str]) -> str:
    if verdict.outcome == ALONE:
        return f"{names[0]} raced alone; there is nothing to compare it with."
    others = [name for name in verdict.rivals if name != verdict.front]
    told = [f"{name} {verdict.rivals[name]}" for name in others]
    return f"{names[0]} is the only one that could be measured; {listed(told)}."


def _worse(verdict: Verdict) -> str:
    return "; all others need more" if verdict.worse and not verdict.rivals else ""


def _lead(group: Group, verdict: Verdict) -> str:
    if verdict.lead is None or verdict.low is None or verdict.high is None:
        return ""
    lead = (
        f"The next, {verdict.runner_up}, needs {times(verdict.lead)} times as much "
        f"(95 % interval {between(verdict.lead, verdict.low, verdict.high)})."
    )
    if verdict.outcome != NO_DIFFERENCE:
        return lead
    return f"{lead} {_detectable(group, verdict)}"


def _rivals(verdict: Verdict) -> str:
    told = [f"{name} ({why})" for name, why in verdict.rivals.items()]
    return f" {listed(told)} may be as good." if told else ""


def _held_back(group: Group, verdict: Verdict, names: list[str]) -> str:
    if verdict.front in verdict.rivals:
        return (
            f"nobody wins: {names[0]} needs the least server CPU per request, but "
            f"{_why(verdict, verdict.front)}. {_lead(group, verdict)}"
        ).strip()
    return (
        f"{names[0]} needs the least server CPU per request of those that can be compared. "
        f"{_lead(group, verdict)}{_rivals(verdict)}"
    )


def _with(verdict: Verdict, why: str) -> list[str]:
    return [name for name, found in verdict.rivals.items() if found == why]


def _detectable(group: Group, verdict: Verdict) -> str:
    if verdict.detectable is None:
        return f"It had too few {group.units.name} to say what difference it would have seen."
    return (
        "The smallest difference it would have seen four times in five: "
        f"{percent(verdict.detectable - 1)}."
    )


def _cpu(group: Group, verdict: Verdict, contender: str) -> str:
    if verdict.at is None:
        return ""
    for result in group.at(verdict.at):
        if result.cell.contender == contender:
            return f" ({value_of(result.estimates['server', PRIMARY.name])} {PRIMARY.unit})"
    return ""
