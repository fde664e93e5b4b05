"""Tables below the standings, as rows of text: baseline, twins, memory, workers."""

from itertools import zip_longest

from regatta.analysis.baseline import Difference
from regatta.analysis.estimates import MEASURED, Estimate
from regatta.analysis.results import Analysis, CellResult, Group
from regatta.report.tables.per_connection import per_connection_table
from regatta.report.tables.twins import twin_table
from regatta.report.text.numbers import interval_of, plural, short, value_of
from regatta.report.text.table import Table


def tables(analysis: Analysis, group: Group, step: int) -> list[Table]:
    """The tables that apply at this step of the axis."""
    found = [
        beyond_baseline(analysis, group, step),
        twin_table(analysis, group, step),
        per_connection_table(analysis, group, step),
        _workers(group, step),
    ]
    return [table for table in found if table is not None]


def beyond_baseline(analysis: Analysis, group: Group, step: int) -> Table | None:
    baseline = analysis.baseline
    known = {one.contender: one for one in group.differences if one.at == step}
    if baseline is None or not known:
        return None
    published = baseline.published
    if published is not None and published.at not in (step, None):
        published = None
    requests = _requests(group, step)
    header = ["design", "µs per request", *([f"s for {requests:,}"] if requests else [])]
    header += [_words(name) for name in published.columns] if published else []
    rows = [[baseline.contender, *["0"] * (len(header) - 1)]]
    for result in group.at(step):
        name = result.cell.contender
        if name in known:
            row = _figures(known[name], requests)
            theirs = published.rows.get(name, []) if published else []
            row += ["–" if value is None else f"{value:g}" for value in theirs]
            rows.append([name, *row, *[""] * (len(header) - 1 - len(row))])
    says = (
        f"Server CPU time minus that of {baseline.contender}, paired within blocks. In brackets: "
        "not distinguishable from 0. All intervals hold simultaneously at 95 %."
    )
    if published:
        first = _words(published.columns[0])
        says += f" Published, from the column “{first}” on: {published.source}"
    return Table(f"CPU time beyond {baseline.contender}", says, header, rows)


def _figures(one: Difference, requests: int | None) -> list[str]:
    figures: list[str] = []
    for factor in [1.0] if requests is None else [1.0, requests / 1e6]:
        low, high = (None if end is None else end * factor for end in (one.low, one.high))
        value = Estimate(one.us_per_request * factor, low, high, one.blocks, MEASURED)
        text = value_of(value) if one.larger else f"({value_of(value)})"
        figures.append(f"{text}\n{interval_of(value)}".strip())
    return figures


def _requests(group: Group, step: int) -> int | None:
    """Requests a trial, if it is the same for all cells of the step."""
    found = {
        result.cell.rounds * result.cell.connections if result.cell.rounds else None
        for result in group.at(step)
    }
    return found.pop() if len(found) == 1 else None


def _workers(group: Group, step: int) -> Table | None:
    rows = [_spread(result) for result in group.at(step) if result.workers]
    says = "Means over timed trials, including the warm-up; workers are ranked within each trial."
    header = ["design", "workers", "busiest", "median", "least busy", "share of the busiest"]
    return Table("Connections per worker", says, header, rows) if rows else None


def _spread(result: CellResult) -> list[str]:
    ranked = result.workers
    total = sum(ranked)
    share = f"{ranked[0] / total * 100:.0f} %" if total else "–"
    middle = ranked[len(ranked) // 2]
    figures = [short(value) for value in (ranked[0], middle, ranked[-1])]
    return [result.cell.contender, f"{len(ranked)}", *figures, share]


def worker_columns(group: Group, step: int) -> Table | None:
    """All workers of all pools, the busiest first: a column a design, as in the book."""
    pools = [result for result in group.at(step) if result.workers]
    if not pools:
        return None
    columns = [[short(worker) for worker in result.workers] for result in pools]
    ranks = enumerate(zip_longest(*columns, fillvalue=""), start=1)
    rows = [[f"{rank}", *row] for rank, row in ranks]
    header = ["worker", *(result.cell.contender for result in pools)]
    title = f"Each of {plural(len(rows), 'worker')}, the busiest first"
    return Table(title, "", header, rows)


def _words(column: str) -> str:
    """`digital_unix_s` as a title: `digital unix, s`."""
    name, _, unit = column.rpartition("_")
    return f"{name.replace('_', ' ')}, {unit}" if name else column
