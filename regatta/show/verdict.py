"""A verdict on two versions in words, on a terminal and as a Markdown comment of ten lines."""

from collections.abc import Iterator
from dataclasses import replace

from rich.console import Console

from regatta.judge.judged import CPU, NO_REGRESSION, REGRESSION, UNDECIDED
from regatta.judge.results import Analysis
from regatta.judge.verdict import NOT_COMPARABLE, LoadVerdict, Ratio, RegressionVerdict
from regatta.show.markdown import table_lines
from regatta.show.numbers import between, capitalized, plural, times
from regatta.show.terminal import draw_table
from regatta.show.text import code, duration, escape, plain
from regatta.show.versus import print_warnings, table, where

STYLES = {
    NO_REGRESSION: "bold green",
    REGRESSION: "bold red",
    NOT_COMPARABLE: "bold red",
    UNDECIDED: "bold yellow",
}


def print_verdict(
    verdict: RegressionVerdict, analysis: Analysis, seen: list[str], console: Console
) -> None:
    """The verdict first, then the figures of all three."""
    console.print()
    console.print(plain(headline(verdict), console, STYLES[verdict.outcome]))
    for line in [*sentences(verdict), *details(verdict, analysis)]:
        console.print(plain(line, console))
    for group in analysis.groups:
        for step in group.steps:
            console.print()
            console.print(plain(where(group, step), console, "bold"))
            draw_table(table(analysis, group, step), analysis.contenders, console)
    print_warnings(analysis, seen, console)


def headline(verdict: RegressionVerdict) -> str:
    """The outcome, and the figure that it rests on."""
    if verdict.why or not verdict.loads:
        return f"{capitalized(verdict.outcome)}: {verdict.why}"
    one = worst(verdict)
    allowed = one.judged.allows(one.threshold)
    means = {
        REGRESSION: f"beyond the {allowed} that is allowed",
        NO_REGRESSION: f"{allowed} is allowed",
        UNDECIDED: f"whether that is {allowed} is not decided",
    }
    return f"{capitalized(verdict.outcome)}: {figure(verdict, one)}; {means[verdict.outcome]}"


def figure(verdict: RegressionVerdict, one: LoadVerdict) -> str:
    """`head takes 1.06 times (1.04–1.08) the CPU per request of base`"""
    claimed = one.over_base(Ratio(one.beyond, one.beyond, one.beyond)).value
    return one.judged.says(ratio_words(one.over_base(one.head), claimed)) + load_words(verdict, one)


def sentences(verdict: RegressionVerdict) -> Iterator[str]:
    """One for each that is judged, under each load."""
    for one in verdict.loads:
        why = f" ({one.why})" if one.why else ""
        allowed = one.judged.allows(one.threshold)
        yield f"{one.judged.name}: {one.outcome}: {figure(verdict, one)}; {allowed} is allowed{why}"
    yield from verdict.missing if verdict.loads else ()


def details(verdict: RegressionVerdict, analysis: Analysis) -> Iterator[str]:
    """The floor, the extent of the race, and what a decision would take."""
    for one in verdict.loads:
        if one.judged is CPU or one.equals_differ:
            decided = one.equals_differ and one.outcome != UNDECIDED
            passed = ", which the verdict allows for" if decided else ""
            floor = one.judged.says(ratio_words(one.over_base(one.floor)))
            yield f"floor: {floor.replace('head', 'base again')}{load_words(verdict, one)}{passed}"
    yield from (f"{one.cell.contender}: {one.says}; {one.sign.do}" for one in analysis.wire)
    took_s = race_s(analysis)
    if verdict.loads:
        yield f"judged after {plural(verdict.blocks, 'block')}, {duration(took_s)}"
    if verdict.outcome == UNDECIDED and not verdict.why:
        yield needed(verdict, took_s)


def needed(verdict: RegressionVerdict, took_s: float) -> str:
    """What a decision would take, by what needs most."""
    left = [one for one in verdict.loads if one.outcome == UNDECIDED]
    beyond = [one.judged.name for one in left if one.blocks_needed is None]
    if beyond:
        return (
            f"to decide: {' and '.join(dict.fromkeys(beyond))} is so near to its threshold that no "
            "race would; choose another --fail-over"
        )
    factor = max(
        (max(one.blocks_needed or 0, one.blocks + 1) / one.blocks for one in left), default=2.0
    )
    return (
        f"to decide: about {duration(factor * took_s)} if the difference is as measured; "
        "a longer --budget, or a quieter machine"
    )


def race_s(analysis: Analysis) -> float:
    """From its start, with the search for held rates, to the end."""
    finished, started = (
        float(analysis.meta.get(name) or 0) for name in ("finished_at", "created_at")
    )
    return max(0.0, finished - started)


def worst(verdict: RegressionVerdict) -> LoadVerdict:
    """The one that the outcome rests on, by how far it is beyond what is allowed."""
    of = [one for one in verdict.loads if one.outcome == verdict.outcome] or list(verdict.loads)
    if verdict.outcome == REGRESSION:
        return max(of, key=lambda one: one.least / one.beyond)
    return max(of, key=lambda one: one.most / one.beyond)


def load_words(verdict: RegressionVerdict, one: LoadVerdict) -> str:
    """Which load, if there are several."""
    if len({of.cell.connections for of in verdict.loads}) == 1:
        return ""
    return f" at {plural(one.cell.connections, 'connection')}"


def ratio_words(ratio: Ratio, *claimed: float) -> str:
    """`1.06 times (1.04–1.08)`."""
    value = times(ratio.value, ratio.low, ratio.high, *claimed)
    return f"{value} times ({between(ratio.value, ratio.low, ratio.high, *claimed)})"


def verdict_markdown(verdict: RegressionVerdict, analysis: Analysis, command: str) -> str:
    """`command`: what makes it again."""
    lines = [f"**{escape(headline(verdict))}**", ""]
    lines += [*(f"- {escape(line)}" for line in sentences(verdict)), ""]
    places = [(group, step) for group in analysis.groups for step in group.steps]
    for group, step in places:
        title = where(group, step) if len(places) > 1 else ""
        lines += table_lines(replace(table(analysis, group, step), title=title))
    loads = [where(*place) for place in places]
    lines += [
        escape(f"{'; '.join(details(verdict, analysis))}. {machine(analysis, loads)}."),
        f"Again: {code(command)}",
    ]
    return "\n".join(lines) + "\n"


def machine(analysis: Analysis, places: list[str]) -> str:
    """Where, and under which load."""
    known = analysis.environment
    cpus = plural(len(known.get("cpus_allowed") or []) or 1, "CPU")
    model, kernel = known.get("cpu_model") or "unknown CPU", known.get("kernel") or "unknown"
    return f"{model}, {cpus}, Linux {kernel}; {' and '.join(places)}"
