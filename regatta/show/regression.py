"""A verdict on two versions in words, on a terminal and as a Markdown comment of ten lines."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Console

from regatta.judge.interval import Interval
from regatta.judge.judged import CPU, NO_REGRESSION, REGRESSION, UNDECIDED
from regatta.judge.regression import HEAD, NOT_COMPARABLE, LoadVerdict, RegressionVerdict
from regatta.judge.results import Analysis
from regatta.show.anatomy import why_lines
from regatta.show.markdown import table_lines
from regatta.show.numbers import capitalized, plural, ratio_words
from regatta.show.text import code, duration, escape, put
from regatta.show.versus import print_load, print_warnings, table, where

STYLES = {
    NO_REGRESSION: "bold green",
    REGRESSION: "bold red",
    NOT_COMPARABLE: "bold red",
    UNDECIDED: "bold yellow",
}


def print_verdict(
    verdict: RegressionVerdict, analysis: Analysis, seen: Sequence[str], console: Console
) -> None:
    """The verdict first, then the figures of all three."""
    console.print()
    put(console, headline(verdict), style=STYLES[verdict.outcome])
    put(console, *sentences(verdict), *whys(verdict, analysis), *details(verdict, analysis))
    for group in analysis.groups:
        for step in group.steps:
            print_load(analysis, group, step, console)
    print_warnings(analysis, seen, console)


def verdict_markdown(verdict: RegressionVerdict, analysis: Analysis, command: str) -> str:
    """`command`: what makes it again."""
    lines = [f"**{escape(headline(verdict))}**", ""]
    said = [*sentences(verdict), *whys(verdict, analysis)]
    lines += [*(f"- {escape(line)}" for line in said), ""]
    places = [(group, step) for group in analysis.groups for step in group.steps]
    for group, step in places:
        title = where(group, step) if len(places) > 1 else ""
        lines += table_lines(replace(table(analysis, group, step), title=title))
    known = analysis.environment
    cpus = plural(len(known.get("cpus_allowed") or []) or 1, "CPU")
    model, kernel = known.get("cpu_model") or "unknown CPU", known.get("kernel") or "unknown"
    loads = " and ".join(where(*place) for place in places)
    machine = f"{model}, {cpus}, Linux {kernel}; {loads}"
    lines += [
        escape(f"{'; '.join(details(verdict, analysis))}. {machine}."),
        f"Again: {code(command)}",
    ]
    return "\n".join(lines) + "\n"


def headline(verdict: RegressionVerdict) -> str:
    """The outcome, and the figure that it rests on."""
    if verdict.why or not verdict.loads:
        return f"{capitalized(verdict.outcome)}: {verdict.why}"
    load = _worst(verdict)
    allowed = load.judged.allows(load.threshold)
    means = {
        REGRESSION: f"beyond the {allowed} that is allowed",
        NO_REGRESSION: f"{allowed} is allowed",
        UNDECIDED: f"whether that is {allowed} is not decided",
    }
    return f"{capitalized(verdict.outcome)}: {_figure(verdict, load)}; {means[verdict.outcome]}"


def _worst(verdict: RegressionVerdict) -> LoadVerdict:
    """The load that the outcome rests on, by how far it is beyond what is allowed."""
    of = [load for load in verdict.loads if load.outcome == verdict.outcome] or list(verdict.loads)
    if verdict.outcome == REGRESSION:
        return max(of, key=lambda load: load.least / load.beyond)
    return max(of, key=lambda load: load.most / load.beyond)


def sentences(verdict: RegressionVerdict) -> Iterator[str]:
    """One for each that is judged, under each load."""
    for load in verdict.loads:
        why = f" ({load.why})" if load.why else ""
        allowed = load.judged.allows(load.threshold)
        figure = _figure(verdict, load)
        yield f"{load.judged.name}: {load.outcome}: {figure}; {allowed} is allowed{why}"
    yield from verdict.missing if verdict.loads else ()


def whys(verdict: RegressionVerdict, analysis: Analysis) -> list[str]:
    """Of a regression, what head needs more for, under each load."""
    return [
        line
        for group in analysis.groups
        for line in why_lines(group)
        if verdict.outcome == REGRESSION and line.startswith(f"{HEAD} ")
    ]


def _figure(verdict: RegressionVerdict, load: LoadVerdict) -> str:
    """`head takes 1.06 times (1.04–1.08) the CPU per request of base`"""
    claimed = load.over_base(Interval(load.beyond, load.beyond, load.beyond)).value
    return load.judged.says(_times(load.over_base(load.head), claimed)) + _load_words(verdict, load)


def _times(ratio: Interval, *claimed: float) -> str:
    return ratio_words(ratio, *claimed, of=" times")


def _load_words(verdict: RegressionVerdict, load: LoadVerdict) -> str:
    """Which load, if there are several."""
    if len({of.cell.connections for of in verdict.loads}) == 1:
        return ""
    return f" at {plural(load.cell.connections, 'connection')}"


def details(verdict: RegressionVerdict, analysis: Analysis) -> Iterator[str]:
    """The floor, the extent of the race, and what a decision would take."""
    for load in verdict.loads:
        if load.judged is CPU or load.equals_differ:
            decided = load.equals_differ and load.outcome != UNDECIDED
            passed = ", which the verdict allows for" if decided else ""
            floor = load.judged.says(_times(load.over_base(load.floor)))
            where = _load_words(verdict, load)
            yield f"floor: {floor.replace('head', 'base again')}{where}{passed}"
    yield from (f"{wait.cell.contender}: {wait.says}; {wait.sign.do}" for wait in analysis.wire)
    # From its start, with the search for held rates, to the end.
    finished, started = (
        float(analysis.meta.get(name) or 0) for name in ("finished_at", "created_at")
    )
    took_s = max(0.0, finished - started)
    if verdict.loads:
        yield f"judged after {plural(verdict.blocks, 'block')}, {duration(took_s)}"
    if verdict.outcome == UNDECIDED and not verdict.why:
        yield _needed(verdict, took_s)


def _needed(verdict: RegressionVerdict, took_s: float) -> str:
    """What a decision would take, by what needs most."""
    left = [load for load in verdict.loads if load.outcome == UNDECIDED]
    beyond = dict.fromkeys(load.judged.name for load in left if load.blocks_needed is None)
    if beyond:
        return (
            f"to decide: {' and '.join(beyond)} is so near to its threshold that no race would; "
            "choose another --fail-over"
        )
    factor = max(
        (max(load.blocks_needed or 0, load.blocks + 1) / load.blocks for load in left), default=2.0
    )
    return (
        f"to decide: about {duration(factor * took_s)} if the difference is as measured; "
        "a longer --budget, or a quieter machine"
    )
