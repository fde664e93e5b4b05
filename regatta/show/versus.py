"""The end of a comparison on one screen: who is better in what, and how sure that is."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from rich.console import Console

from regatta.judge.columns import AgainstBest
from regatta.judge.held_rates import HOLDS, NOTHING, HeldGroup, HeldRate
from regatta.judge.results import Analysis, Group
from regatta.judge.soundness.barred import ContenderWarmUp
from regatta.judge.standings import LARGER, NO_DIFFERENCE, UNCONFIRMED
from regatta.record.metrics import BY_NAME, P50, P99, PRIMARY, Metric, side_of
from regatta.record.records import DIFFER
from regatta.record.steady import STEADY
from regatta.record.study.limits import NETNS
from regatta.show.anatomy import why_lines
from regatta.show.held import rounded_rate, star
from regatta.show.held import verdict as held_verdict
from regatta.show.notes import notes
from regatta.show.numbers import around, detectable, factor, plural, ratio_words
from regatta.show.standings import HEADINGS, with_companions
from regatta.show.terminal import draw_table
from regatta.show.text import put
from regatta.show.trials import cell_words
from regatta.show.verdicts import listed
from regatta.show.view import Figure, Heading, Row, Table

COMPARED = (PRIMARY, P50, P99)
"""What has a verdict."""
FIGURES = (*COMPARED, BY_NAME["peak_memory_mib"])
MOST_NOTES = 5
ABSENT = "is not in this race:"
FAR_APART = 2.0
UNREACHED = re.compile(
    r"refused|ECONN|unreachable|resol|EAI_AGAIN|HTTP/1\.\d [45]|before it was ready|was not ready",
    re.IGNORECASE,
)
"""What a server or its client says where another service cannot be reached."""


def print_versus(analysis: Analysis, seen: Sequence[str], console: Console) -> None:
    """`seen`: what a look before the race found."""
    for group in analysis.groups:
        for step in group.steps:
            print_load(analysis, group, step, console)
            put(console, *sentences(group, step))
            put(console, *filter(None, map(held_verdict, _searches(analysis, group, step))))
        put(console, *why_lines(group))
    print_warnings(analysis, [*broken(analysis), *seen], console)


def print_load(analysis: Analysis, group: Group, step: int, console: Console) -> None:
    """The figures under one load."""
    console.print()
    put(console, where(group, step), style="bold")
    draw_table(table(analysis, group, step), analysis.contenders, console)


def print_warnings(analysis: Analysis, seen: Sequence[str], console: Console) -> None:
    warnings = [*seen, *(note.line for note in notes(analysis) if note.line)]
    if warnings:
        console.print()
    put(console, *warnings[:MOST_NOTES], style="yellow")
    if len(warnings) > MOST_NOTES:
        put(console, f"{len(warnings) - MOST_NOTES} more in the report", style="dim")


def broken(analysis: Analysis) -> Iterator[str]:
    """A line for each server that failed while its rate was searched: it may hold more, or race;
    and for each that answers otherwise under load."""
    left = {name: why for name, why in analysis.unlike.items() if name in analysis.contenders}
    for name in left.keys() - (analysis.environment.get(DIFFER) or {}).keys():
        yield f"{name} {left[name]}: no star"
    for held in (held for of in analysis.held for held in of.members):
        name, why = held.cell.contender, held.why.removeprefix("failed: ")
        if held.state == NOTHING and name in analysis.unlike:
            yield f"{name} {ABSENT} it {analysis.unlike[name]}"
        elif held.state == NOTHING:
            yield f"{name} {ABSENT} it holds no rate ({why}){_own_network(held)}"
        elif why != held.why:
            yield f"{name} failed while its rate was searched: {why}"
        if held.apart >= FAR_APART:
            yield (
                f"the searches for the rate of {name} found some that are {held.apart:.1f} times "
                "as high as others, so all may race at a wrong rate: race again on a quiet machine"
            )


def _own_network(held: HeldRate) -> str:
    """What most often fails in a network of its own, after a look on loopback that went well."""
    if held.cell.placement != NETNS or not UNREACHED.search(held.why):
        return ""
    return (
        "; it answered before, on loopback, and the race has a network of its own: if it needs a "
        "database or another service, add --placement loopback"
    )


def without_figures(analysis: Analysis, names: Iterable[str]) -> list[str]:
    """A line for each of them that was not raced, or failed in every trial."""
    raced = {
        result.cell.contender for group in analysis.groups for result in group.cells if result.ok
    }
    why = {line.partition(f" {ABSENT}")[0]: line for line in broken(analysis)}
    return [
        why.get(name, f"{name} has no figures: it failed in every trial")
        for name in names
        if name not in raced
    ]


def where(group: Group, step: int) -> str:
    """The load: how many connections at which rate."""
    cell = group.at(step)[0].cell
    rate = "" if cell.rate is None else f", {cell.rate:,} requests a second"
    each = ", a new one for each request" if cell.per_connection == 1 else ""
    return f"{plural(cell.connections, 'connection')}{each}{rate}"


def sentences(group: Group, step: int) -> Iterator[str]:
    """One for each metric that was compared, and one for each server that failed."""
    barred = {result.cell.contender for result in group.at(step) if result.barred}
    for metric in COMPARED:
        if against := _against(group, step, metric):
            yield f"{metric.label}: {_sentence(against, barred)}"
    for result in group.at(step):
        if result.failed and not result.ok:
            yield f"{result.cell.contender} {cell_words(result)}"


def _against(group: Group, step: int, metric: Metric) -> list[AgainstBest]:
    return [of for of in group.against if (of.at, of.metric) == (step, metric.name)]


def _sentence(against: list[AgainstBest], barred: Collection[str]) -> str:
    """`against`: all others against the best, or against the least of those that cannot win."""
    best, outcomes = against[0].best, {rival.outcome for rival in against}
    if outcomes == {NO_DIFFERENCE}:
        names = listed([best, *(rival.contender for rival in against)])
        return f"{names} are not distinguishable ({detectable(against)})"
    leads = "is best" if outcomes == {LARGER} and best not in barred else "is ahead"
    if not outcomes & {LARGER, UNCONFIRMED}:
        leads = "is not shown to be ahead"
    return (
        f"{best} {leads}; {'; '.join(f'{rival.contender} {_compared(rival)}' for rival in against)}"
    )


def _compared(rival: AgainstBest) -> str:
    """With the best."""
    if rival.outcome == NO_DIFFERENCE:
        return f"is not distinguishable ({detectable([rival])})"
    if rival.outcome not in {LARGER, UNCONFIRMED}:
        return f"cannot be compared: {rival.outcome}"
    if rival.scale != "ratio" or rival.value is None:
        return "is worse by a clear margin"
    ratio = f"{factor(rival.value)} times as much"
    if known := rival.closed:
        ratio = ratio_words(known, of=" times as much")
    if rival.outcome == UNCONFIRMED:
        return f"is charged {ratio}, which busy time does not show"
    return f"takes {ratio}"


def table(analysis: Analysis, group: Group, step: int) -> Table:
    """A row a server, a column a metric: figures with 95 % intervals."""
    searched = _searches(analysis, group, step)
    held = {of.cell.contender: of for group in searched for of in group.members}
    warm = {of.contender: of for of in analysis.warm_ups}
    columns = with_companions(FIGURES, group, step)
    header = [Heading(""), *(Heading(*HEADINGS[metric.name]) for metric in columns)]
    header += [Heading(HOLDS, "requests/s")] if held else []
    header += [Heading("warm after", "requests")] if warm else []
    rows = []
    for result in group.at(step):
        name, figures = result.cell.contender, []
        for metric in columns:
            value, half = around(result.estimates[side_of(metric), metric.name])
            marked = star(_against(group, step, metric), name)
            figures.append(Figure(f"{value} ±{half}" if half else value, mark=marked))
        if held:
            marks = "".join(star(of.against, name) for of in searched)
            figures.append(Figure(_held_words(held.get(name)), mark=marks))
        if warm:
            figures.append(Figure(_warm_words(warm.get(name))))
        rows.append(Row(name, tuple(figures)))
    return Table("", "", tuple(header), tuple(rows))


def _searches(analysis: Analysis, group: Group, step: int) -> list[HeldGroup]:
    """Those over as many connections."""
    connections = group.at(step)[0].cell.connections
    return [held for held in analysis.held if held.members[0].cell.connections == connections]


def _warm_words(warm: ContenderWarmUp | None) -> str:
    """`12,000 in 4.5 s`"""
    if warm is None:
        return "-"
    if warm.kind not in STEADY:
        return warm.kind
    return f"{warm.requests:,} in {warm.seconds:.1f} s" if warm.requests else "0"


def _held_words(held: HeldRate | None) -> str:
    if held is None or held.rate.value is None:
        return "-" if held is None else held.state
    return f"{'' if held.state == HOLDS else '≥ '}{rounded_rate(held.rate.value)}"
