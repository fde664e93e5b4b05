"""The whole analysis: from a ledger to everything that tables and charts show."""

import math
from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from regatta.judge.anatomy import anatomy, busy_of, stacks, time_spent
from regatta.judge.claims.evidence import RaceResults
from regatta.judge.claims.judge import judge_all
from regatta.judge.columns import Column, against_best, confirmed
from regatta.judge.contrast import busy_by_block, requests_of, usable_by_block
from regatta.judge.estimates import estimate_cell, usable
from regatta.judge.grouping import Members, group, titles
from regatta.judge.held_rates import held_groups
from regatta.judge.overheads import WEIGHED, differences, per_connection
from regatta.judge.perf_table import perf_table
from regatta.judge.results import Analysis, CellResult, Group, NotedTrial, UnconfirmedLead
from regatta.judge.soundness.barred import failing, not_steady, slow, started, unlike, warm_ups
from regatta.judge.soundness.clients import (
    comfortable_rate,
    connections_by_rank,
    lab_use,
    shared_loads,
)
from regatta.judge.soundness.repeated import outliers, repeats_of
from regatta.judge.soundness.side_by_side import clocks, side_by_side_costs
from regatta.judge.soundness.wire import on_the_wire
from regatta.judge.standings import Verdict, verdicts
from regatta.judge.statistics.joint import Mean
from regatta.judge.statistics.leads import log_ratios
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import Units, between, units_of
from regatta.record.cell import Cell
from regatta.record.inputs import Baseline
from regatta.record.metrics import PRIMARY, STANDINGS, Metric, side_of
from regatta.record.records import OK, SAMPLED, RaceRecord, Trial


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

    def noted(trials: Iterable[Trial]) -> list[NotedTrial]:
        return [NotedTrial(cells[trial.cell_id], trial) for trial in trials]

    return Analysis(
        meta=ledger.meta,
        environment=ledger.environment,
        calibration=inputs.calibration,
        contenders=sorted(order, key=lambda name: (order[name], name)),
        groups=groups,
        failures=noted(trial for trial in last if trial.status != OK),
        client_bound=noted(trial for trial in last if trial.is_client_bound),
        disturbed=noted(trial for trial in ledger.trials if trial.disturbed is not None),
        baseline=inputs.baseline,
        outliers=[
            outlier
            for cell in sorted(ledger.cells, key=lambda cell: cell.id)
            for outlier in outliers(cell, results[cell.id].blocks)
        ],
        warm_ups=warm_ups(ledger.warm_ups, ledger.cells, ledger.by_cell),
        trials=len(last),
        planned=ledger.planned,
        trial_kinds=dict(kinds),
        units=units,
        sittings=ledger.sittings,
        held=held_groups(ledger),
        restless=noted(trial for trial in last if trial.is_restless),
        repeated=repeats_of(ledger),
        clocks=clocks(ledger, grouped),
        side_by_side=side_by_side_costs(ledger, units),
        shared_loads=shared_loads(ledger.trials),
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
                stacks={number: result.stacks for number, result in results.items()},
            ),
        ),
    )


Step = dict[str, CellResult]
"""By contender, the cells of one table at one step."""


def _column(at: int, step: Step, metric: Metric) -> Column:
    figures = {
        name: value
        for name, result in step.items()
        if (value := result.estimates[side_of(metric), metric.name].value) is not None
        if metric.name in result.blocks
    }
    return Column(
        at,
        metric,
        figures,
        {name: step[name].blocks[metric.name] for name in figures},
        {name: step[name].requests for name in figures},
        {name for name, result in step.items() if result.barred},
    )


def _group(
    title: str,
    members: Members,
    results: dict[int, CellResult],
    baseline: Baseline | None,
    units: Units,
) -> Group:
    def position(cell: Cell) -> tuple[int, int, str]:
        return getattr(cell, members.axis.name) or 0, cell.contender_order, cell.contender

    steps = {
        at: {cell.contender: results[cell.id] for cell in members.at(at)} for at in members.steps
    }
    costs = {at: {name: of.cpu for name, of in step.items()} for at, step in steps.items()}
    by_step, overall = verdicts(steps, units)
    standing_of = [verdict.standing_of for verdict in by_step]
    columns = {
        metric: [_column(at, step, metric) for at, step in steps.items()] for metric in STANDINGS
    }
    return Group(
        title=title,
        axis=members.axis,
        steps=members.steps,
        facts=dict(members.facts),
        cells=[results[cell.id] for cell in sorted(members.cells, key=position)],
        by_step=by_step,
        overall=overall,
        units=units,
        between=between(list(costs.values()), units) if units.sitting_of else None,
        differences=differences(costs, baseline.contender, units) if baseline else [],
        against=[
            *confirmed(against_best(columns.pop(PRIMARY), standing_of, units), by_step),
            *(against for of in columns.values() for against in against_best(of, None, units)),
        ],
        unconfirmed=list(_unconfirmed(by_step, steps, units)),
        anatomy=anatomy(steps[members.steps[-1]], by_step[-1].front, units),
    )


def _unconfirmed(
    by_step: list[Verdict], steps: Mapping[int, Step], units: Units
) -> Iterator[UnconfirmedLead]:
    for (at, step), verdict in zip(steps.items(), by_step, strict=True):
        for less, more in verdict.unconfirmed:
            best, other = step[less], step[more]
            ratios = log_ratios(other.cpu, best.cpu), log_ratios(other.busy, best.busy)
            charged, busy = (math.exp(Mean.of_blocks(units.gathered(of)).value) for of in ratios)
            yield UnconfirmedLead(at, less, more, charged, busy)


def _client_cpus(environment: dict[str, Any]) -> int:
    placement = environment.get("placement")
    return len(placement.get("client_cpus") or [0]) if isinstance(placement, dict) else 1


def _result(
    cell: Cell, trials: list[Trial], client_cpus: int, units: Units, barred: str
) -> CellResult:
    estimates, latencies = estimate_cell(trials, units)
    ok = [trial for trial in trials if trial.status == OK]
    busy = busy_by_block(trials)
    bound_by_client = [trial for trial in ok if trial.is_client_bound]
    return CellResult(
        cell=cell,
        estimates=estimates,
        latencies=latencies,
        blocks=_by_block(trials),
        busy=busy,
        memory=_by_block(trials, WEIGHED),
        stacks=stacks(trials),
        busy_sampled=busy_of(trials, SAMPLED),
        time_spent=time_spent(trials, busy),
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


def _by_block(
    trials: list[Trial], metrics: tuple[Metric, ...] = STANDINGS
) -> dict[str, BlockValues]:
    taken = {metric.name: usable_by_block(metric, trials) for metric in metrics}
    return {name: blocks for name, blocks in taken.items() if blocks}
