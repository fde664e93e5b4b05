"""Verdicts in plain words: who won, by how much, and whether that is larger than the noise."""

from regatta.analysis.analyse import Analysis, Group
from regatta.analysis.metrics import PRIMARY
from regatta.analysis.standings import ALONE, LARGER, NO_DIFFERENCE, TOO_FEW, Verdict
from regatta.analysis.warmup import WarmUp
from regatta.report.numbers import percent, plural, times, value_of

LEGEND = (
    "★ least server CPU per request, by more than the noise. "
    "☆ least, but the noise could explain it."
)


def mark(verdict: Verdict, contender: str) -> str:
    """The star of the winner in a table."""
    if contender != verdict.winner:
        return ""
    return "★" if verdict.outcome in (LARGER, ALONE) else "☆"


def place(group: Group, verdict: Verdict) -> str:
    return group.axis.over_all() if verdict.at is None else group.axis.at(verdict.at)


def confidence(verdict: Verdict) -> str:
    """`95 % interval`, or how far Holm's correction widened it."""
    level = 0.05 if verdict.level is None else verdict.level
    return f"{fixed_percent(1 - level)} interval"


def fixed_percent(share: float) -> str:
    text = f"{share * 100:.1f}".removesuffix(".0")
    return f"{text} %"


def verdict_sentence(group: Group, verdict: Verdict) -> str:
    where = place(group, verdict)
    if verdict.winner is None:
        return f"{where} nobody can be ranked: no trial measured the server's CPU time."
    winner = f"{verdict.winner}{_cpu(group, verdict, verdict.winner)}"
    if verdict.outcome == ALONE or verdict.runner_up is None or verdict.lead is None:
        return f"{where} only {winner} was measured; there is nothing to compare it with."
    runner_up = f"{verdict.runner_up}{_cpu(group, verdict, verdict.runner_up)}"
    if verdict.outcome == TOO_FEW or verdict.low is None or verdict.high is None:
        return (
            f"{where} {winner} needed the least server CPU per request and {runner_up} "
            f"{times(verdict.lead)} times as much, but fewer than two trials can be paired: "
            "whether that is noise cannot be said."
        )
    span = f"{confidence(verdict)} {times(verdict.low)} to {times(verdict.high)}"
    if verdict.outcome == NO_DIFFERENCE:
        return (
            f"{where} there is no difference that this race could see between {winner} and "
            f"{runner_up} in server CPU per request: {times(verdict.lead)} times ({span}). "
            f"{_detectable(verdict)}"
        )
    return (
        f"{where} {winner} needs the least server CPU per request; the next, {runner_up}, needs "
        f"{times(verdict.lead)} times as much ({span}). That is larger than the noise."
    )


def headline(group: Group) -> str:
    """The overall verdict in a few words."""
    verdict = group.overall
    if verdict.winner is None:
        return "Nobody can be ranked"
    if verdict.outcome == LARGER and verdict.lead is not None:
        return (
            f"{verdict.winner} needs the least server CPU; "
            f"{verdict.runner_up} takes {times(verdict.lead)} times as much"
        )
    if verdict.outcome == NO_DIFFERENCE:
        return f"No difference seen between {verdict.winner} and {verdict.runner_up}"
    if verdict.outcome == ALONE:
        return f"{verdict.winner} raced alone"
    return f"{verdict.winner} is ahead, with too few trials to be sure"


def failure_sentence(analysis: Analysis) -> str:
    """Empty if every trial went well."""
    if not analysis.failures:
        return ""
    names = sorted({failure.cell.contender for failure in analysis.failures})
    return (
        f"{plural(len(analysis.failures), 'trial')} of {analysis.trials} failed "
        f"({', '.join(names)}); they are in no average."
    )


def client_bound_sentence(analysis: Analysis) -> str:
    """Empty if the client kept up in every trial."""
    if not analysis.client_bound:
        return ""
    names = sorted({noted.cell.contender for noted in analysis.client_bound})
    return (
        f"In {plural(len(analysis.client_bound), 'trial')} of {analysis.trials} the client was "
        f"the bottleneck ({', '.join(names)}): they show what the client can do, not the server, "
        "and are in no average."
    )


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
    kept = len(analysis.disturbed) - again
    limit = analysis.environment.get("disturbance_limit_percent")
    parts = [f"{again} run again, of which only the last attempt counts"] if again else []
    if kept:
        parts.append(f"{kept} kept in the averages")
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


def notice_sentences(analysis: Analysis) -> list[str]:
    """All that a reader must know beside the numbers."""
    found = [
        sentence(analysis)
        for sentence in (
            progress_sentence,
            left_out_sentence,
            failure_sentence,
            client_bound_sentence,
            warm_up_sentence,
            disturbed_sentence,
        )
    ]
    return [sentence for sentence in found if sentence]


def progress_sentence(analysis: Analysis) -> str:
    """Empty if the race ran all that was planned."""
    early = analysis.meta.get("ended_early")
    if early and analysis.trials >= analysis.planned:
        return f"This race ended early, as its study asks it to, {early}."
    if analysis.trials >= analysis.planned:
        return ""
    return (
        f"This race is not finished: {analysis.trials} of {plural(analysis.planned, 'trial')} "
        "so far. Finish it with `regatta race --resume`."
    )


def _detectable(verdict: Verdict) -> str:
    if verdict.detectable is None:
        return ""
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
