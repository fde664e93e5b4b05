"""Tables below the standings of a step: baseline, twins, memory, workers."""

from collections.abc import Sequence
from itertools import zip_longest

from regatta.judge.estimates import MEASURED, Estimate
from regatta.judge.overheads import WEIGHED, Difference, PerConnection
from regatta.judge.results import Analysis, CellResult, Group
from regatta.judge.twins import TwinShare, twin_shares
from regatta.show.numbers import between, interval_of, percent, plural, short, times, value_of
from regatta.show.view import Table, plain_table


def step_tables(analysis: Analysis, group: Group, step: int) -> list[Table]:
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
    return plain_table(f"CPU time beyond {baseline.contender}", says, header, rows)


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
    return plain_table("Connections per worker", says, header, rows) if rows else None


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
    return plain_table(title, "", header, rows)


def _words(column: str) -> str:
    """`digital_unix_s` as a title: `digital unix, s`."""
    name, _, unit = column.rpartition("_")
    return f"{name.replace('_', ' ')}, {unit}" if name else column


KERNEL = WEIGHED[1].name
SAYS = (
    "KiB per idle connection: the slope of memory over their number, with its 95 % interval. "
    "The first column is what the server's processes hold, the second what the kernel holds for "
    "them."
)
NO_KERNEL = " The kernel's part is not supported here: it needs root and the memory controller."


def per_connection_table(analysis: Analysis, group: Group, step: int) -> Table | None:
    """With the cells that have the most idle connections; None where memory was not measured."""
    here = [result.cell for result in group.at(step)]
    found = [one for one in analysis.memory_per_connection if one.cell in here]
    if not found:
        return None
    names = list(dict.fromkeys(one.cell.contender for one in found))
    rows = [[name, *(_figure(found, name, metric.name) for metric in WEIGHED)] for name in names]
    says = SAYS if any(one.metric == KERNEL for one in found) else SAYS + NO_KERNEL
    return plain_table(
        "Memory per idle connection", says, ["contender", "processes", "kernel"], rows
    )


def _figure(found: Sequence[PerConnection], contender: str, metric: str) -> str:
    for one in found:
        if (one.cell.contender, one.metric) == (contender, metric):
            return f"{value_of(one.kib)}\n{interval_of(one.kib)}".strip()
    return "–"


def shares(analysis: Analysis, group: Group) -> list[TwinShare]:
    return twin_shares(group, analysis.names.twins)


def twin_sentence(share: TwinShare) -> str:
    """If the twin costs as much as the design, only an upper bound of the rest is known."""
    if share.twin_us > share.us:
        most = f", at most {percent(share.high - 1)}" if share.high > 1 else ""
        return (
            f"{share.design}: {short(share.us)} µs, its bare twin {short(share.twin_us)}: the "
            f"difference is too small to measure{most}"
        )
    return (
        f"{share.design}: of {short(share.us)} µs, {short(share.twin_us)} are due to the "
        "strategy (its bare twin)"
    )


def twin_table(analysis: Analysis, group: Group, step: int) -> Table | None:
    """At one step; None where no twin was measured with its design."""
    found = [share for share in shares(analysis, group) if share.at == step]
    if not found:
        return None
    rows = [
        [
            share.design,
            f"{times(*ratio)}\n{between(*ratio)}",
            short(share.us),
            short(share.twin_us),
        ]
        for share in found
        for ratio in [(share.ratio, share.low, share.high)]
    ]
    says = (
        f"{'; '.join(map(twin_sentence, found))}. Server CPU per request; the ratio is paired "
        "within blocks, with its 95 % interval, which covers this sitting."
    )
    header = ["design", "ratio", "µs per request", "its bare twin"]
    return plain_table("Cost of the strategy", says, header, rows)
