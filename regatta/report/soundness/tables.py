"""Tables on the trials: sittings, clients, repeats, clock, outliers, warm-up."""

import math

from regatta.analysis.results import Analysis
from regatta.analysis.soundness.outliers import Outlier
from regatta.ledger.metrics import BY_NAME
from regatta.report.soundness.clients import clients_table
from regatta.report.soundness.clock import clock_table
from regatta.report.soundness.repeated import repeated_table
from regatta.report.soundness.side_by_side import side_by_side_table
from regatta.report.soundness.sittings import sittings_tables
from regatta.report.text.numbers import between, percent, plural, short, times
from regatta.report.text.table import Table

MOST = 25
"""Rows of the outlier table; more are not read."""
OUTLIERS = "Outliers"
OUTLIERS_SAY = (
    "Trials beyond Tukey's outer fences of their cell, three times its interquartile range away; "
    "rings in the charts. Outliers are kept, so their intervals are wide."
)
WARM_SAYS = (
    "A change-point test on each trial's latencies, in the order in which requests started. Noise "
    "causes changes at both ends alike; the warm-up is too short if significantly more trials "
    "change early than late, or the first segment is slower than the last (Holm over the table), "
    "and if that adds more than 1 % to the latencies."
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
    """A row a contender whose trials could be tested."""
    if not analysis.warm_ups:
        return None
    rows = [
        [
            one.contender,
            f"{one.tested}",
            f"{one.early}",
            f"{one.late}",
            "" if one.share is None else f"first {percent(one.share)}",
            "" if one.ratio is None else f"{times(one.ratio)} times",
            f"{times(*first)} times\n{between(*first)}",
            "too short" if one.too_short else "warm",
        ]
        for one in analysis.warm_ups
        for first in [(one.first, one.first_low, one.first_high)]
    ]
    header = [
        "design",
        "trials tested",
        "changed early",
        "changed late",
        "where, if early",
        "latency before ÷ after",
        "first segment ÷ last",
        "warm-up",
    ]
    return Table("Warm-up", WARM_SAYS, header, rows)
