"""A verdict on two versions in words, on a terminal and as a Markdown comment of ten lines."""

from collections.abc import Iterator

from rich.console import Console

from regatta.analysis.results import Analysis, CellResult
from regatta.ledger.metrics import side_of
from regatta.report.text.durations import duration
from regatta.report.text.fitted import print_table
from regatta.report.text.markdown import code, escape
from regatta.report.text.numbers import between, capitalized, interval_of, plural, times, value_of
from regatta.report.text.terminal import plain
from regatta.versus.screen import COMPARED, MEMORY, print_warnings, table, where
from regatta.versus.verdict import (
    NO_REGRESSION,
    NOT_COMPARABLE,
    REGRESSION,
    UNDECIDED,
    LoadVerdict,
    Ratio,
    Verdict,
)

STYLES = {
    NO_REGRESSION: "bold green",
    REGRESSION: "bold red",
    NOT_COMPARABLE: "bold red",
    UNDECIDED: "bold yellow",
}


def print_verdict(verdict: Verdict, analysis: Analysis, seen: list[str], console: Console) -> None:
    """The verdict first, then the figures of all three."""
    console.print()
    console.print(plain(headline(verdict), console, STYLES[verdict.outcome]))
    for line in details(verdict, analysis):
        console.print(plain(line, console))
    for group in analysis.groups:
        for step in group.steps:
            console.print()
            console.print(plain(where(group, step), console, "bold"))
            print_table(table(analysis, group, step, console), console)
    print_warnings(analysis, seen, console)


def headline(verdict: Verdict) -> str:
    """The outcome, and the figure that it rests on."""
    if verdict.why or not verdict.loads:
        return f"{capitalized(verdict.outcome)}: {verdict.why}"
    one = worst(verdict)
    allowed = f"{100 * verdict.threshold:g} %"
    means = {
        REGRESSION: f"more than the {allowed} allowed",
        NO_REGRESSION: f"{allowed} more is allowed",
        UNDECIDED: f"whether that is {allowed} more is not decided",
    }
    figure = ratio_words(one.head, 1 + verdict.threshold)
    return (
        f"{capitalized(verdict.outcome)}: head takes {figure} the CPU per request of base"
        f"{load_words(verdict, one)}; {means[verdict.outcome]}"
    )


def details(verdict: Verdict, analysis: Analysis) -> Iterator[str]:
    """The floor, the extent of the race, and what a decision would take."""
    for one in verdict.loads:
        floor = ratio_words(one.floor)
        decided = one.equals_differ and one.outcome != UNDECIDED
        passed = ", which the verdict allows for" if decided else ""
        yield f"floor: base again takes {floor} that of base{load_words(verdict, one)}{passed}"
    took_s = race_s(analysis)
    if verdict.loads:
        yield f"judged after {plural(verdict.blocks, 'block')}, {duration(took_s)}"
    if verdict.outcome == UNDECIDED and not verdict.why:
        yield needed(verdict, took_s)


def needed(verdict: Verdict, took_s: float) -> str:
    """What a decision would take, by the load that needs most."""
    most: int = 0
    for one in verdict.loads:
        if one.blocks_needed is None:
            return (
                "to decide: the difference is so near to the threshold that no race would; "
                "choose another --fail-over"
            )
        most = max(most, one.blocks_needed)
    most = max(most, verdict.blocks + 1)
    minutes = duration(most * took_s / verdict.blocks)
    return (
        f"to decide: about {most:,} blocks, {minutes}, if the difference is as measured; "
        "a longer --budget, or a quieter machine"
    )


def race_s(analysis: Analysis) -> float:
    """From the first block to the end."""
    finished = float(analysis.meta.get("finished_at") or 0)
    started = analysis.sittings[0].started_at if analysis.sittings else finished
    return max(0.0, finished - started)


def worst(verdict: Verdict) -> LoadVerdict:
    """The load that the outcome rests on."""
    if verdict.outcome == REGRESSION:
        worse = [one for one in verdict.loads if one.outcome == REGRESSION]
        return max(worse, key=lambda one: one.least)
    return max(verdict.loads, key=lambda one: one.most)


def load_words(verdict: Verdict, one: LoadVerdict) -> str:
    """Which load, if there are several."""
    if len(verdict.loads) == 1:
        return ""
    return f" at {plural(one.cell.connections, 'connection')}"


def ratio_words(ratio: Ratio, *claimed: float) -> str:
    """`1.06 times (1.04–1.08)`."""
    value = times(ratio.value, ratio.low, ratio.high, *claimed)
    return f"{value} times ({between(ratio.value, ratio.low, ratio.high, *claimed)})"


def verdict_markdown(verdict: Verdict, analysis: Analysis, command: str) -> str:
    """`command`: what makes it again."""
    titles = [f"{metric.label}, {metric.unit}" for metric in (*COMPARED, MEMORY)]
    lines = [
        f"**{escape(headline(verdict))}**",
        "",
        f"| | {' | '.join(titles)} |",
        "| --- |" + " ---: |" * len(titles),
    ]
    places = []
    for group in analysis.groups:
        for step in group.steps:
            place = where(group, step)
            places.append(place)
            several = len(verdict.loads) > 1
            lines += [row(result, place if several else "") for result in group.at(step)]
    lines += [
        "",
        escape(f"{'; '.join(details(verdict, analysis))}. {machine(analysis, places)}."),
        f"Again: {code(command)}",
    ]
    return "\n".join(lines) + "\n"


def row(result: CellResult, place: str) -> str:
    cells = []
    for metric in (*COMPARED, MEMORY):
        estimate = result.estimates[side_of(metric), metric.name]
        interval = interval_of(estimate)
        cells.append(f"{value_of(estimate)} [{interval}]" if interval else value_of(estimate))
    name = f"{result.cell.contender}, {place}" if place else result.cell.contender
    return f"| {escape(name)} | {' | '.join(map(escape, cells))} |"


def machine(analysis: Analysis, places: list[str]) -> str:
    """Where, and under which load."""
    known = analysis.environment
    cpus = plural(len(known.get("cpus_allowed") or []) or 1, "CPU")
    model, kernel = known.get("cpu_model") or "unknown CPU", known.get("kernel") or "unknown"
    return f"{model}, {cpus}, Linux {kernel}; {' and '.join(places)}"
