"""The whole analysis: from a ledger to everything that tables and charts show."""

from collections import Counter as Tally
from collections.abc import Callable, Iterator
from typing import Any

from regatta.judge.claims.evidence import RaceResults
from regatta.judge.claims.judge import judge_all
from regatta.judge.columns import Column, against_best, confirmed
from regatta.judge.contrast import busy_by_block, requests_of, usable_by_block
from regatta.judge.estimates import estimate_cell, usable
from regatta.judge.grouping import Members, group, titles
from regatta.judge.held_rates import held_groups
from regatta.judge.overheads import WEIGHED, differences, per_connection
from regatta.judge.perf_table import perf_table
from regatta.judge.results import Analysis, CellResult, Group, NotedTrial
from regatta.judge.soundness.barred import failing, not_steady, slow, started, unlike, warm_ups
from regatta.judge.soundness.clients import (
    clients_of,
    comfortable_rate,
    connections_by_rank,
    lab_use,
)
from regatta.judge.soundness.repeated import StandingsTable, outliers, repeats_of
from regatta.judge.soundness.side_by_side import clocks, side_by_side_costs
from regatta.judge.soundness.wire import on_the_wire
from regatta.judge.standings import Entries, Standings, verdicts
from regatta.judge.statistics.joint import PairedMean
from regatta.judge.statistics.leads import (
    Measures,
    RankConflict,
    Values,
    leads,
    rank_conflicts,
    ratios_of,
)
from regatta.judge.statistics.percentile_comparison import Requests
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import Units, between, units_of
from regatta.record.cell import Cell
from regatta.record.inputs import Baseline
from regatta.record.metrics import BUSY, BY_NAME, PRIMARY, STANDINGS, Metric, side_of
from regatta.record.readings import clock_ghz, cores_of
from regatta.record.records import OK, RaceRecord, Trial


def leads_of(ledger: RaceRecord) -> list[PairedMean | None]:
    """Leads of all groups, at each step and overall; cheap enough for a running race."""
    blocks = {cell_id: _by_block(trials, (PRIMARY,)) for cell_id, trials in ledger.by_cell.items()}
    return [lead for members in group(ledger.cells) for lead in leads(_values(members, blocks))]


def analyse(ledger: RaceRecord) -> Analysis:
    cells = {cell.id: cell for cell in ledger.cells}
    order = {cell.contender: cell.contender_order for cell in ledger.cells}
    grouped = group(ledger.cells)
    cpus = _client_cpus(ledger.environment)
    units = units_of(ledger)
    differing = unlike(ledger)
    results = {
        cell.id: _result(
            cell,
            trials := ledger.trials_of(cell),
            cpus,
            units,
            differing.get(cell.contender, "") or not_steady(cell, trials, ledger.warm_ups),
        )
        for cell in ledger.cells
    }
    inputs = ledger.inputs
    last = ledger.last_attempts
    kinds = Tally(trial.kind for trial in last if trial.status == OK)
    groups = [
        _group(title, members, results, inputs.baseline, units)
        for title, members in zip(titles(grouped), grouped, strict=True)
    ]
    tables = [
        StandingsTable(members, _entries(members, results), one.by_step, one.overall)
        for members, one in zip(grouped, groups, strict=True)
    ]
    return Analysis(
        meta=ledger.meta,
        environment=ledger.environment,
        calibration=inputs.calibration,
        contenders=sorted(order, key=lambda name: (order[name], name)),
        groups=groups,
        failures=[NotedTrial(cells[trial.cell_id], trial) for trial in last if trial.status != OK],
        client_bound=[
            NotedTrial(cells[trial.cell_id], trial) for trial in last if trial.is_client_bound
        ],
        disturbed=[
            NotedTrial(cells[trial.cell_id], trial)
            for trial in ledger.trials
            if trial.disturbed is not None
        ],
        baseline=inputs.baseline,
        outliers=[
            one
            for cell in sorted(ledger.cells, key=lambda cell: cell.id)
            for one in outliers(cell, results[cell.id].blocks)
        ],
        warm_ups=warm_ups(ledger.warm_ups, ledger.cells, ledger.by_cell),
        trials=len(last),
        planned=ledger.planned,
        trial_kinds=dict(kinds),
        units=units,
        sittings=ledger.sittings,
        held=held_groups(ledger),
        restless=[NotedTrial(cells[trial.cell_id], trial) for trial in last if trial.is_restless],
        repeated=repeats_of(ledger, tables),
        clocks=clocks(ledger, grouped),
        side_by_side=side_by_side_costs(ledger, units),
        clients=clients_of(ledger.trials),
        lab_use=lab_use(last),
        unlike=differing,
        wire=on_the_wire(ledger.cells, ledger.by_cell),
        memory_per_connection=per_connection(
            ((result.cell, result.memory) for result in results.values()), units
        ),
        claims=judge_all(
            inputs.claims,
            RaceResults(
                cells=sorted(ledger.cells, key=lambda cell: cell.id),
                trials=ledger.by_cell,
                estimates={number: result.estimates for number, result in results.items()},
                left_out=ledger.environment.get("left_out") or {},
                units=units,
            ),
        ),
    )


CLOCKED = (BY_NAME["task_clock_per_request_us"], BY_NAME["cycles_per_request"])
"""From the same trials, so they differ only by clock speed."""
Blocks = dict[str, BlockValues]
"""One number a block by metric, for one cell: the data of the columns of the standings."""


def _values(members: Members, blocks: dict[int, Blocks]) -> Values:
    return {
        step: {
            cell.contender: blocks.get(cell.id, {}).get(PRIMARY.name, {})
            for cell in members.at(step)
        }
        for step in members.steps
    }


def _entries(members: Members, results: dict[int, CellResult]) -> dict[int, Entries]:
    return {
        step: {cell.contender: results[cell.id].entry for cell in members.at(step)}
        for step in members.steps
    }


def _column(members: Members, results: dict[int, CellResult], step: int, metric: Metric) -> Column:
    figures: dict[str, float] = {}
    blocks: dict[str, BlockValues] = {}
    requests: dict[str, Requests] = {}
    for cell in members.at(step):
        result = results[cell.id]
        estimate = result.estimates[side_of(metric), metric.name]
        if estimate.value is not None and metric.name in result.blocks:
            figures[cell.contender] = estimate.value
            blocks[cell.contender] = result.blocks[metric.name]
            requests[cell.contender] = result.requests
    barred = {cell.contender for cell in members.at(step) if results[cell.id].entry.barred}
    return Column(step, metric, figures, blocks, requests, barred)


def _group(
    title: str,
    members: Members,
    results: dict[int, CellResult],
    baseline: Baseline | None,
    units: Units,
) -> Group:
    def position(cell: Cell) -> tuple[int, int, str]:
        return getattr(cell, members.axis.name) or 0, cell.contender_order, cell.contender

    values = _values(members, {number: result.blocks for number, result in results.items()})
    entries = _entries(members, results)
    decided = verdicts(entries, units)
    columns = {
        metric: [_column(members, results, step, metric) for step in members.steps]
        for metric in STANDINGS
    }
    accounts = _measures(members, results, lambda result: result.blocks, (PRIMARY, BUSY))
    contradictions = rank_conflicts(accounts, units)
    contradicted = {(one.at, one.less, one.more) for one in contradictions}
    return Group(
        title=title,
        axis=members.axis,
        steps=members.steps,
        facts=dict(members.facts),
        cells=[results[cell.id] for cell in sorted(members.cells, key=position)],
        by_step=decided.by_step,
        overall=decided.overall,
        units=units,
        between=between(list(values.values()), units.sitting_of) if units.sitting_of else None,
        differences=differences(values, baseline.contender, units) if baseline else [],
        against=[
            *confirmed(against_best(columns.pop(PRIMARY), decided.standing_of, units), decided),
            *(one for of in columns.values() for one in against_best(of, None, units)),
        ],
        contradictions=contradictions,
        unconfirmed=[
            lead
            for lead in _unconfirmed(decided, entries, units)
            if (lead.at, lead.less, lead.more) not in contradicted
        ],
        inversions=rank_conflicts(
            _measures(members, results, lambda result: result.clocked, CLOCKED), units
        ),
    )


def _unconfirmed(
    decided: Standings, entries: dict[int, Entries], units: Units
) -> Iterator[RankConflict]:
    """Those of single steps."""
    for at, less, more in decided.unconfirmed:
        if at is not None:
            one, other = entries[at][less].accounts, entries[at][more].accounts
            yield RankConflict(at, less, more, *ratios_of(one, other, units))


def _measures(
    members: Members,
    results: dict[int, CellResult],
    blocks_of: Callable[[CellResult], Blocks],
    pair: tuple[Metric, Metric],
) -> dict[int, dict[str, Measures]]:
    """By step and contender, without those that are barred or lack one of the two metrics."""
    first, second = (metric.name for metric in pair)
    return {
        step: {
            cell.contender: (blocks[first], blocks[second])
            for cell in members.at(step)
            if not results[cell.id].entry.barred
            and {first, second} <= (blocks := blocks_of(results[cell.id])).keys()
        }
        for step in members.steps
    }


def _client_cpus(environment: dict[str, Any]) -> int:
    placement = environment.get("placement")
    return len(placement.get("client_cpus") or [0]) if isinstance(placement, dict) else 1


def _is_clocked(trial: Trial) -> bool:
    """Whether cycles include the kernel and are of one kind of core, so only clocks differ."""
    return not isinstance(clock_ghz(trial, "server"), str) and len(cores_of(trial, "server")) < 2


def _result(
    cell: Cell, trials: list[Trial], client_cpus: int, units: Units, barred: str
) -> CellResult:
    estimates, latencies = estimate_cell(trials, units)
    ok = [trial for trial in trials if trial.status == OK]
    bound_by_client = [trial for trial in ok if trial.is_client_bound]
    return CellResult(
        cell=cell,
        estimates=estimates,
        latencies=latencies,
        blocks=_by_block(trials),
        busy=busy_by_block(trials),
        clocked=_by_block([trial for trial in trials if _is_clocked(trial)], CLOCKED),
        memory=_by_block(trials, WEIGHED),
        requests=requests_of(trials),
        perf=perf_table(usable(trials)),
        workers=connections_by_rank(usable(trials)),
        failed=len(trials) - len(ok),
        failing=barred or failing(trials),
        client_bound=len(bound_by_client),
        comfortable_rate=comfortable_rate(cell, bound_by_client, client_cpus),
        held_up=sum(trial.held_up is not None for trial in ok),
        started=started(cell, usable(trials)),
        slow=slow(cell, trials),
        ok=len(ok),
    )


def _by_block(trials: list[Trial], metrics: tuple[Metric, ...] = STANDINGS) -> Blocks:
    taken = {metric.name: usable_by_block(metric, trials) for metric in metrics}
    return {name: blocks for name, blocks in taken.items() if blocks}
