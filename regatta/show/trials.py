"""Sentences about trials: failed, client-bound, disturbed, not warm, or not yet run."""

from regatta.judge.results import Analysis, CellResult, rate_words
from regatta.judge.soundness.clients import uses_more_cpus
from regatta.show.numbers import plural

HELD_UP = "other programs took CPU from the client"


def failure_sentence(analysis: Analysis) -> str:
    """Empty if no trial failed."""
    if not analysis.failures:
        return ""
    names = sorted({failure.cell.contender for failure in analysis.failures})
    return (
        f"{plural(len(analysis.failures), 'trial')} of {analysis.trials} failed "
        f"({', '.join(names)}); they are left out of every average."
    )


def client_bound_sentence(analysis: Analysis) -> str:
    """Empty if the client kept up in every trial."""
    if not analysis.client_bound:
        return ""
    names = sorted({noted.cell.contender for noted in analysis.client_bound})
    affected = [
        result for group in analysis.groups for result in group.cells if result.client_bound
    ]
    rated = [result for result in affected if result.comfortable_rate is not None]
    helps = client_help(min(rated, key=_rate)) if rated else "more CPUs for the client"
    return (
        f"In {plural(len(analysis.client_bound), 'trial')} of {analysis.trials} the client was "
        f"the bottleneck ({', '.join(names)}). Such trials' times and throughput are in no "
        "average. A cell with mostly client-bound trials shows the server's CPU at the client's "
        f"maximum rate and wins no star. Remedy: {helps}."
    )


def _rate(result: CellResult) -> int:
    return result.comfortable_rate or 0


def client_help(result: CellResult) -> str:
    """What would keep the client of this cell from being the bottleneck."""
    what = "a `rate`" if result.cell.load == "open" else "an open load"
    rate = f"{what} of at most {_rate(result):,} a second, half the client's capacity"
    if not uses_more_cpus(result.cell):
        return rate
    return f"{rate}, or more `client_cpus` in `[placement]` (--client-cpus)"


def cell_words(result: CellResult) -> str:
    """The caveat of a cell; empty if there is none."""
    if result.failing:
        return result.failing
    if result.client_bound and result.comfortable_rate is not None:
        return f"client-bound: {client_help(result)} would help"
    if result.held_up:
        return f"disturbed: {HELD_UP}"
    return rate_words(result)


def warm_up_sentence(analysis: Analysis) -> str:
    """Empty if every contender was warm when the window opened."""
    parts = [f"{one.contender} was {one.why_not}" for one in analysis.warm_ups if one.why_not]
    if not parts:
        return ""
    return f"{'; '.join(parts)}: it cannot win. Raise the warm-up limit."


def disturbed_sentence(analysis: Analysis) -> str:
    """Empty if no trial was disturbed."""
    if not analysis.disturbed:
        return ""
    again = sum(noted.trial.superseded for noted in analysis.disturbed)
    late = sum(
        noted.trial.held_up is not None and not noted.trial.superseded
        for noted in analysis.disturbed
    )
    in_averages = len(analysis.disturbed) - again - late
    limit = analysis.meta.get("disturbance_limit_percent")
    parts = [f"{again} repeated (only the last attempt is kept)"] if again else []
    if in_averages:
        parts.append(f"{in_averages} kept in the averages")
    if late:
        parts.append(f"{late} whose times are left out of every average: {HELD_UP}")
    more = "too much" if limit is None else f"more than {limit} % of a CPU"
    return (
        f"{plural(len(analysis.disturbed), 'trial')} disturbed: other programs or the host took "
        f"{more} during the window; {', '.join(parts)}."
    )


def left_out_sentence(analysis: Analysis) -> str:
    """Empty if every design of the study can run here."""
    if not analysis.left_out:
        return ""
    parts = [f"{name} ({reason})" for name, reason in analysis.left_out.items()]
    return f"Left out, because this machine cannot run it: {', '.join(parts)}."


def unfinished(analysis: Analysis) -> bool:
    """Whether trials remain; while rate searches run, their number is unknown."""
    searching = bool(analysis.held) and not analysis.planned
    return searching or analysis.trials < analysis.planned


def progress_sentence(analysis: Analysis) -> str:
    """Empty if the race ran all planned trials."""
    if analysis.held and not analysis.planned:
        return (
            "This race is not finished: the rates that its contenders hold are not known yet. "
            "Continue it with `regatta race --resume` and its folder."
        )
    early = analysis.meta.get("ended_early")
    if early and analysis.trials >= analysis.planned:
        return f"This race ended early, as its study asks, {early}."
    if analysis.trials >= analysis.planned:
        return ""
    return (
        f"This race is not finished: {analysis.trials} of {plural(analysis.planned, 'trial')} "
        "so far. Continue it with `regatta race --resume` and its folder."
    )
