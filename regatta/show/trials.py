"""The trials: what perf counted in each cell, and which failed, were client-bound or disturbed."""

from collections.abc import Collection, Iterator

from regatta.judge.estimates import MEASURED, OVER, Estimate, summarize
from regatta.judge.perf_table import CounterMeans
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
    """All that was counted in a cell, as perf stat prints a run."""
    rows: list[Row] = []
    absent: dict[str, list[str]] = {}
    for label, unit, remarks, found in (*_counters(result, units), *_metrics(result)):
        known = [estimate for estimate in found if estimate is not None]
        if any(estimate.value is not None or estimate.state == OVER for estimate in known):
            name = f"{label}, {unit}" if unit else label
            rows.append(Row(name, tuple(map(_figure, found)), remarks=remarks))
        elif known:
            states = " or ".join(sorted({estimate.state for estimate in known}))
            absent.setdefault(states, []).append(label)
    trials = " and ".join(
        plural(result.perf.trials.get(kind, 0), f"{kind} trial") for kind in (TIMED, COUNTED_TRIAL)
    )
    says = f"Means over {trials}. ± is the distance to the farther end of the 95 % interval."
    if absent:
        words = (f"{', '.join(labels)} ({state})" for state, labels in absent.items())
        says += f" Without a figure: {'; '.join(words)}."
    title, header = result.cell.label(), tuple(map(Heading, ("metric", *SIDES)))
    printed = "What perf stat printed of the {} of one trial"
    return Section(
        title,
        text=() if rows else ("No trial of this cell is usable.",),
        tables=(Table(f"A run of {title}", says, header, tuple(rows)),) if rows else (),
        sections=tuple(
            Section(printed.format(side), printed=text, rank=APPENDIX)
            for side, text in result.perf.printed.items()
        ),
        rank=APPENDIX,
    )


def _counters(result: CellResult, units: Units) -> Iterator[Line]:
    """Every sum per trial, in perf's order, and how long perf could count it, if it shared a
    hardware counter with others."""

    def total(of: CounterMeans, factor: float) -> Estimate:
        blocks = sorted(of.totals)
        return summarize([of.totals[block] * factor for block in blocks], of.state, blocks, units)

    for row in result.perf.rows:
        if row.unit in SUMMED:
            unit, factor = ("ms", 1e-6) if row.unit == NS else ("", 1.0)
            percents = [of.running_percent for of in row.sides.values()]
            least = min((known for known in percents if known is not None), default=100.0)
            shared = (f"counted {least:.0f} % of the time",) if least < WHOLE_TIME else ()
            label = f"{row.event}{ORIGIN_SUFFIX.get(row.origin, '')}"
            yield label, unit, shared, [total(row.sides[side], factor) for side in SIDES]


def _metrics(result: CellResult) -> Iterator[Line]:
    """All that are no sum, per kind of core too."""
    known = {name for _, name in result.estimates}
    for metric in (metric for whole in METRICS for metric in on_each_core(whole, known)):
        if "_per_request" not in metric.name:
            found = [result.estimates.get((side, metric.name)) for side in SIDES]
            yield metric.label, metric.unit, (), found


def on_each_core(whole: Metric, known: Collection[str]) -> list[Metric]:
    """Itself, and those of the known that are the same on a kind of core."""
    on_a_core = (name for name in sorted(known) if name.startswith(whole.name + ON_CORE))
    return [whole, *map(metric_named, on_a_core)]


def _figure(estimate: Estimate | None) -> Figure:
    if estimate is None:
        return Figure(DASH)
    value, half = around(estimate)
    is_plain = estimate.value is None or estimate.state == MEASURED
    return Figure(value, f"±{half}" if half else "", "" if is_plain else f"({estimate.state})")


HELD_UP = "other programs took CPU from the client"
APART = "They are in the ledger, and in no average"


def unfinished(analysis: Analysis) -> bool:
    """Whether trials remain; while rate searches run, their number is unknown."""
    searching = bool(analysis.held) and not analysis.planned
    return searching or analysis.trials < analysis.planned


def client_help(result: CellResult) -> str:
    """What would keep the client of this cell from being the bottleneck."""
    what = "a `rate`" if result.cell.load == "open" else "an open load"
    most = result.comfortable_rate or 0
    rate = f"{what} of at most {most:,} a second, half the client's capacity"
    more = ", or more `client_cpus` in `[placement]` (--client-cpus)"
    return rate + more * uses_more_cpus(result.cell)


def cell_words(result: CellResult) -> str:
    """The caveat of a cell; empty if there is none."""
    if result.failing:
        return result.failing
    if result.client_bound and result.comfortable_rate is not None:
        return f"client-bound: {client_help(result)} would help"
    return f"disturbed: {HELD_UP}" if result.held_up else rate_words(result)


def trials_sections(analysis: Analysis) -> Iterator[Section]:
    """The trials that count less, a section a kind that there is."""
    bound = "The client was the bottleneck."
    cell = "a cell with mostly such trials has no latency or throughput."
    again = "Repeated trials are in the ledger, and in no average."
    for name, noted, says in (
        ("failed", analysis.failures, f"{APART}."),
        ("client-bound", analysis.client_bound, f"{bound} {APART}; {cell}"),
        ("disturbed", analysis.disturbed, f"In per cent of one CPU over the window. {again}"),
    ):
        title = f"{name.capitalize()} trials"
        tables = table_of(
            title,
            says,
            noted,
            {
                "cell": lambda noted: noted.cell.label(),
                "block": lambda noted: f"{noted.trial.block}",
                "kind": lambda noted: noted.trial.kind,
                "attempt": lambda noted: f"{noted.trial.attempt}",
                "reason": lambda noted: (
                    noted.trial.reason
                    or noted.trial.client_bound
                    or noted.trial.disturbed
                    or "no reason recorded"
                ),
                "then": lambda noted: "run again" if noted.trial.superseded else "kept",
            },
        )
        if tables:
            yield Section(title, tables=tables, rank=FOLDED, name=name)
