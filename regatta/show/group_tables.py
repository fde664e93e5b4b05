"""Tables below the standings of a step: baseline, twins, memory, workers."""

from itertools import zip_longest

from regatta.judge.estimates import Estimate
from regatta.judge.overheads import WEIGHED, Difference
from regatta.judge.results import Analysis, CellResult, Group
from regatta.judge.twins import TwinShare, twin_shares
from regatta.show.numbers import (
    DASH,
    cell_of,
    interval_of,
    percent,
    plural,
    ratio_cell,
    short,
    value_of,
)
from regatta.show.view import Table, plain_table, table_of

KERNEL = WEIGHED[1].name


def step_tables(analysis: Analysis, group: Group, step: int) -> list[Table]:
    """The tables that apply at this step of the axis."""
    return [
        *_beyond_baseline(analysis, group, step),
        *_twin_table(analysis, group, step),
        *_memory_table(analysis, group, step),
        *_workers_table(group, step),
    ]


def _beyond_baseline(analysis: Analysis, group: Group, step: int) -> list[Table]:
    baseline = analysis.baseline
    known = {one.contender: one for one in group.differences if one.at == step}
    if baseline is None or not known:
        return []
    published = baseline.published
    if published is not None and published.at not in (step, None):
        published = None
    # Requests a trial, if that is the same for all cells of the step.
    cells = [result.cell for result in group.at(step)]
    counts = {cell.rounds * cell.connections if cell.rounds else None for cell in cells}
    requests = counts.pop() if len(counts) == 1 else None
    header = ["design", "µs per request", *([f"s for {requests:,}"] if requests else [])]
    header += [_words(name) for name in published.columns] if published else []
    rows = [[baseline.contender, *["0"] * (len(header) - 1)]]
    for name in (cell.contender for cell in cells):
        if name in known:
            row = [name, _difference(known[name], 1.0)]
            row += [_difference(known[name], requests / 1e6)] if requests else []
            theirs = published.rows.get(name, []) if published else []
            row += [DASH if value is None else f"{value:g}" for value in theirs]
            rows.append([*row, *[""] * (len(header) - len(row))])
    says = (
        f"Server CPU time minus that of {baseline.contender}, paired within blocks. In brackets: "
        "not distinguishable from 0. All intervals hold simultaneously at 95 %."
    )
    if published:
        first = _words(published.columns[0])
        says += f" Published, from the column “{first}” on: {published.source}"
    return [plain_table(f"CPU time beyond {baseline.contender}", says, header, rows)]


def _difference(one: Difference, factor: float) -> str:
    size = Estimate(**vars(one.through(lambda us: us * factor)))
    text = value_of(size) if one.larger else f"({value_of(size)})"
    return f"{text}\n{interval_of(size)}".strip()


def _words(column: str) -> str:
    """`digital_unix_s` as a title: `digital unix, s`."""
    name, _, unit = column.rpartition("_")
    return f"{name.replace('_', ' ')}, {unit}" if name else column


def twin_sentence(share: TwinShare) -> str:
    """If the twin costs as much as the design, only an upper bound of the rest is known."""
    if share.twin_us > share.us:
        most = f", at most {percent(share.ratio.high - 1)}" if share.ratio.high > 1 else ""
        return (
            f"{share.design}: {short(share.us)} µs, its bare twin {short(share.twin_us)}: the "
            f"difference is too small to measure{most}"
        )
    return (
        f"{share.design}: of {short(share.us)} µs, {short(share.twin_us)} are due to the "
        "strategy (its bare twin)"
    )


def _twin_table(analysis: Analysis, group: Group, step: int) -> tuple[Table, ...]:
    """Empty where no twin was measured with its design."""
    found = [one for one in twin_shares(group, analysis.names.twins) if one.at == step]
    return table_of(
        "Cost of the strategy",
        f"{'; '.join(map(twin_sentence, found))}. Server CPU per request; the ratio is paired "
        "within blocks, with its 95 % interval, which covers this sitting.",
        found,
        {
            "design": lambda one: one.design,
            "ratio": lambda one: ratio_cell(one.ratio),
            "µs per request": lambda one: short(one.us),
            "its bare twin": lambda one: short(one.twin_us),
        },
    )


def _memory_table(analysis: Analysis, group: Group, step: int) -> tuple[Table, ...]:
    """With the cells that have the most idle connections; empty where memory was not measured."""
    here = [result.cell for result in group.at(step)]
    kib: dict[str, dict[str, str]] = {}
    for one in analysis.memory_per_connection:
        if one.cell in here:
            kib.setdefault(one.cell.contender, {}).setdefault(one.metric, cell_of(one.kib))
    says = (
        "KiB per idle connection: the slope of memory over their number, with its 95 % interval. "
        "The first column is what the server's processes hold, the second what the kernel holds "
        "for them."
    )
    if not any(KERNEL in of for of in kib.values()):
        says += " The kernel's part is not supported here: it needs root and the memory controller."
    return table_of(
        "Memory per idle connection",
        says,
        list(kib),
        {
            "contender": str,
            "processes": lambda name: kib[name].get(WEIGHED[0].name, DASH),
            "kernel": lambda name: kib[name].get(KERNEL, DASH),
        },
    )


def _workers_table(group: Group, step: int) -> tuple[Table, ...]:
    return table_of(
        "Connections per worker",
        "Means over timed trials, including the warm-up; workers are ranked within each trial.",
        [result for result in group.at(step) if result.workers],
        {
            "design": lambda one: one.cell.contender,
            "workers": lambda one: f"{len(one.workers)}",
            "busiest": lambda one: short(one.workers[0]),
            "median": lambda one: short(one.workers[len(one.workers) // 2]),
            "least busy": lambda one: short(one.workers[-1]),
            "share of the busiest": _share_of_the_busiest,
        },
    )


def _share_of_the_busiest(result: CellResult) -> str:
    total = sum(result.workers)
    return f"{result.workers[0] / total * 100:.0f} %" if total else DASH


def worker_columns(group: Group, step: int) -> Table | None:
    """All workers of all pools, the busiest first: a column a design, as in the book."""
    pools = [result for result in group.at(step) if result.workers]
    if not pools:
        return None
    columns = [[short(worker) for worker in result.workers] for result in pools]
    ranks = enumerate(zip_longest(*columns, fillvalue=""), start=1)
    rows = [[f"{rank}", *row] for rank, row in ranks]
    title = f"Each of {plural(len(rows), 'worker')}, the busiest first"
    return plain_table(title, "", ["worker", *(one.cell.contender for one in pools)], rows)
