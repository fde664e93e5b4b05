"""The trials: what perf counted in each cell, and which failed, were client-bound or disturbed."""

from collections.abc import Iterator

from regatta.judge.estimates import MEASURED, OVER, Estimate, summarize
from regatta.judge.perf_table import CounterMeans, CounterRow
from regatta.judge.results import Analysis, CellResult, rate_words
from regatta.judge.soundness.clients import uses_more_cpus
from regatta.judge.statistics.units import Units
from regatta.record.counters import NS, SUMMED
from regatta.record.metrics import METRICS, ON_CORE, SIDES, Metric, metric_named
from regatta.record.records import COUNTED_TRIAL, TIMED
from regatta.show.numbers import DASH, around, plural
from regatta.show.view import APPENDIX, FOLDED, Figure, Heading, Row, Section, Table, table_of

ORIGIN_SUFFIX = {"kernel": ", by the kernel", "cpus": ", of its CPUs"}
"""Marks counters that do not come from perf."""
WHOLE_TIME = 99.5
"""Per cent, from which on a counter is said to have run all the time."""
Line = tuple[str, str, tuple[str, ...], list[Estimate | None]]
"""Label, unit, remarks, and the estimate of each side; None: it has no such figure."""


def run_section(result: CellResult, units: Units) -> Section:
    rows: list[Row] = []
    absent: dict[str, list[str]] = {}
    for label, unit, remarks, found in (*_counters(result, units), *_metrics(result)):
        known = [one for one in found if one is not None]
        if any(one.value is not None or one.state == OVER for one in known):
            name = f"{label}, {unit}" if unit else label
            rows.append(Row(name, tuple(map(_figure, found)), remarks=remarks))
        elif known:
            states = " or ".join(sorted({one.state for one in known}))
            absent.setdefault(states, []).append(label)
    trials = " and ".join(
        plural(result.perf.trials.get(kind, 0), f"{kind} trial") for kind in (TIMED, COUNTED_TRIAL)
    )
    says = f"Means over {trials}. ± is the distance to the farther end of the 95 % interval."
    if absent:
        words = (f"{', '.join(labels)} ({state})" for state, labels in absent.items())
        says += f" Without a figure: {'; '.join(words)}."
    title, header = result.cell.label(), tuple(map(Heading, ("metric", *SIDES)))
    return Section(
        title,
        text=() if rows else ("No trial of this cell is usable.",),
        tables=(Table(f"A run of {title}", says, header, tuple(rows)),) if rows else (),
        sections=tuple(
            Section(
                f"What perf stat printed of the {side} of one trial", printed=text, rank=APPENDIX
            )
            for side, text in result.perf.printed.items()
        ),
        rank=APPENDIX,
    )


def _counters(result: CellResult, units: Units) -> Iterator[Line]:
    """Every sum per trial, in perf's order."""
    for row in result.perf.rows:
        if row.unit in SUMMED:
            label = f"{row.event}{ORIGIN_SUFFIX.get(row.origin, '')}"
            found: list[Estimate | None] = [
                _total(row.sides[side], row.unit, units) for side in SIDES
            ]
            yield label, "ms" if row.unit == NS else "", _running(row), found


def _total(of: CounterMeans, unit: str, units: Units) -> Estimate:
    factor = 1e-6 if unit == NS else 1.0
    blocks = sorted(of.totals)
    return summarize([of.totals[block] * factor for block in blocks], of.state, blocks, units)


def _running(row: CounterRow) -> tuple[str, ...]:
    """How long perf could count it, if it shared a hardware counter with others."""
    known = [one.running_percent for one in row.sides.values() if one.running_percent is not None]
    return (f"counted {min(known):.0f} % of the time",) if known and min(known) < WHOLE_TIME else ()


def _metrics(result: CellResult) -> Iterator[Line]:
    """All that are no sum, per kind of core too."""
    known = sorted({name for _, name in result.estimates})
    for whole in METRICS:
        on_a_core = (metric_named(name) for name in known if name.startswith(whole.name + ON_CORE))
        metric: Metric
        for metric in (whole, *on_a_core):
            if "_per_request" not in metric.name:
                found = [result.estimates.get((side, metric.name)) for side in SIDES]
                yield metric.label, metric.unit, (), found


def _figure(one: Estimate | None) -> Figure:
    if one is None:
        return Figure(DASH)
    value, half = around(one)
    remark = "" if one.value is None or one.state == MEASURED else f"({one.state})"
    return Figure(value, f"±{half}" if half else "", remark)


HELD_UP = "other programs took CPU from the client"
KEPT = "They are in the ledger, and in no average"


def unfinished(analysis: Analysis) -> bool:
    """Whether trials remain; while rate searches run, their number is unknown."""
    searching = bool(analysis.held) and not analysis.planned
    return searching or analysis.trials < analysis.planned


def client_help(result: CellResult) -> str:
    """What would keep the client of this cell from being the bottleneck."""
    what = "a `rate`" if result.cell.load == "open" else "an open load"
    most = result.comfortable_rate or 0
    rate = f"{what} of at most {most:,} a second, half the client's capacity"
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


def trials_sections(analysis: Analysis) -> Iterator[Section]:
    for title, name, noted, says in (
        ("Failed trials", "failed", analysis.failures, f"{KEPT}."),
        (
            "Client-bound trials",
            "client-bound",
            analysis.client_bound,
            f"The client was the bottleneck. {KEPT}; a cell with mostly such trials has no latency "
            "or throughput.",
        ),
        (
            "Disturbed trials",
            "disturbed",
            analysis.disturbed,
            "In per cent of one CPU over the window. Repeated trials are in the ledger, and in no "
            "average.",
        ),
    ):
        tables = table_of(
            title,
            says,
            noted,
            {
                "cell": lambda one: one.cell.label(),
                "block": lambda one: f"{one.trial.block}",
                "kind": lambda one: one.trial.kind,
                "attempt": lambda one: f"{one.trial.attempt}",
                "reason": lambda one: (
                    one.trial.reason
                    or one.trial.client_bound
                    or one.trial.disturbed
                    or "no reason recorded"
                ),
                "then": lambda one: "run again" if one.trial.superseded else "kept",
            },
        )
        if tables:
            yield Section(title, tables=tables, rank=FOLDED, name=name)
