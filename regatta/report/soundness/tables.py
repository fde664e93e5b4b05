"""Tables on the trials: sittings, clients, repeats, clock, outliers, warm-up."""

import math

from regatta.analysis.results import Analysis
from regatta.analysis.soundness.clients import ClientFound
from regatta.analysis.soundness.outliers import Outlier
from regatta.analysis.soundness.warmup import WarmUp
from regatta.ledger.metrics import BY_NAME
from regatta.report.soundness.clock import clock_table
from regatta.report.soundness.repeated import repeated_table
from regatta.report.soundness.side_by_side import side_by_side_table
from regatta.report.soundness.sittings import sittings_tables
from regatta.report.text.numbers import between, percent, plural, short, times
from regatta.report.text.table import Table
from regatta.study.limits import START_SKEW_LIMIT_MS

TITLE = "Clients"
NS_PER_US, NS_PER_MS = 1e3, 1e6


def clients_table(analysis: Analysis) -> Table | None:
    """None where one client made every load."""
    found = analysis.clients
    if not found.each:
        return None
    says = (
        "Several clients shared each load; percentiles pool all their requests. They started "
        f"within {short(found.skew_p99_ns / NS_PER_MS)} ms of each other in 99 % of trials, by "
        f"their own clocks; a trial with more than {START_SKEW_LIMIT_MS:g} ms is repeated. Each "
        "client runs its own burst rounds."
    )
    header = [
        *("client", "connections", "CPU used", "peak", "client-bound", "worst p99 lateness"),
        *("start delay", "clock error"),
    ]
    return Table(TITLE, says, header, [_row(at, one) for at, one in enumerate(found.each, 1)])


def _row(at: int, one: ClientFound) -> list[str]:
    late = one.late_p99_ns
    return [
        f"{at}, {one.host}" if one.host else f"{at}",
        f"{one.connections:,}",
        percent(one.cpu_share),
        percent(one.most_cpu_share),
        f"{one.bound} of {one.trials}",
        "" if late is None else f"{short(late / NS_PER_MS)} ms",
        f"{short(one.began_late_ns / NS_PER_US)} µs",
        f"{short(one.clock_bound_ns / NS_PER_US)} µs" if one.clock_bound_ns else "the same clock",
    ]


MOST = 25
"""Rows of the outlier table; more are not read."""
OUTLIERS = "Outliers"
OUTLIERS_SAY = (
    "Trials beyond Tukey's outer fences of their cell, three times its interquartile range away; "
    "rings in the charts. Outliers are kept, so their intervals are wide."
)
WARM_SAYS = (
    "Each server's first process was watched from its first request, as fast as it answers, until "
    "its CPU per request and p50 were level; later processes get 1.5 times as many requests and "
    "are watched again. A server whose cost still moves in the window, or that is not steady in "
    "over 1 of 10 processes, cannot win."
)


def soundness_tables(analysis: Analysis) -> list[Table]:
    """The tables that apply to this race."""
    found = [
        *sittings_tables(analysis),
        clients_table(analysis),
        repeated_table(analysis),
        clock_table(analysis),
        side_by_side_table(analysis),
        outlier_table(analysis),
        warm_up_table(analysis),
    ]
    return [table for table in found if table is not None]


def outlier_sentence(analysis: Analysis) -> str:
    """Empty without outliers."""
    trials = {(one.cell.id, one.block) for one in analysis.outliers}
    if not trials:
        return ""
    names = sorted({one.cell.contender for one in analysis.outliers})
    return (
        f"{plural(len(trials), 'outlier')} in {plural(analysis.trials, 'trial')} "
        f"({', '.join(names)}), kept in every average."
    )


def outlier_table(analysis: Analysis) -> Table | None:
    """A row a metric and trial, the most extreme first; the JSON has all of them."""
    if not analysis.outliers:
        return None
    rows = []
    for one in sorted(analysis.outliers, key=_how_far, reverse=True)[:MOST]:
        metric = BY_NAME[one.metric]
        unit = f" {metric.unit}" if metric.unit else ""
        ratio = f"{times(one.value / one.median)} times" if one.median > 0 else ""
        figures = [f"{short(one.value)}{unit}", f"{short(one.median)}{unit}", ratio]
        rows.append([one.cell.label(), f"{one.block}", metric.label, *figures])
    header = ["cell", "block", "metric", "this trial", "median of all", ""]
    more = len(analysis.outliers) - len(rows)
    rest = f" {more:,} less extreme ones are in the JSON (`regatta report --json`)." if more else ""
    return Table(OUTLIERS, f"{OUTLIERS_SAY}{rest}", header, rows)


def _how_far(one: Outlier) -> float:
    """As a factor in either direction; a value without one sorts last."""
    if min(one.value, one.median) <= 0:
        return 0.0
    return abs(math.log(one.value / one.median))


def warm_up_table(analysis: Analysis) -> Table | None:
    """A row a contender and work, with what its first process needed."""
    if not analysis.warm_ups:
        return None
    rows = [
        [
            one.contender,
            one.work,
            one.kind,
            f"{one.requests:,}",
            f"{one.seconds:.1f} s",
            f"{one.unsteady} of {one.watched}",
            moves_words(one),
            one.why_not or "warm",
        ]
        for one in analysis.warm_ups
    ]
    header = [
        "design",
        "work",
        "first process",
        "warm after, requests",
        "under load",
        "processes not steady",
        "window ÷ end of warm-up",
        "measured",
    ]
    return Table("Warm-up", WARM_SAYS, header, rows)


def moves_words(one: WarmUp) -> str:
    if one.moves is None or one.moves_low is None or one.moves_high is None:
        return ""
    return f"{times(one.moves)}\n{between(one.moves, one.moves_low, one.moves_high)}"
