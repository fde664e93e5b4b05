"""The verdicts of a report on equal copies, from the ledger and analysis of the race.

It looks at two tables. As raced: all contenders in one table, in which only a copy of the cheapest
design can wrongly be called worse. In pairs: the first in the study against the second, with each
pair at separate steps of one table; every difference found there is a false alarm.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from regatta.checks.calibrate.equals.copies import design_of, is_relinked, pairs
from regatta.judge.analyse import analyse
from regatta.judge.claims.result import REFUTED, SUPPORTED
from regatta.judge.results import Analysis, Group
from regatta.judge.standings import LARGER, TOO_FEW
from regatta.record.cell import Cell
from regatta.record.inputs import ORDER, Claim, RaceInputs, RecordedClaim, Statement
from regatta.record.metrics import PRIMARY, STANDINGS
from regatta.record.records import RaceRecord

FIRST, SECOND = "first", "second"
FURTHER = 100_000
"""Offset between the steps of pairs, larger than any number of connections."""
CLAIMS = "claims"
CLAIMED = ("task_clock", "context_switches", "page_faults", "latency_p50", "latency_max")
"""The metrics of most claims of the study `reports`."""

GroupStep = tuple[int, int | None]
"""A table of the race and a step; None for all steps."""


@dataclass(frozen=True)
class ReportedVerdicts:
    worse: dict[GroupStep, frozenset[str]]
    """As raced: the designs of which a copy is called worse."""
    needs: dict[GroupStep, dict[str, float]]
    """As raced: the mean logarithm of the CPU per request of each design's two copies."""
    distinguished: dict[str, list[str]]
    """By metric that was measured, or `claims`: where two equals were distinguished."""
    relinked: bool = False
    """Whether the copies of each pair had different link orders."""


def reported(ledger: RaceRecord) -> ReportedVerdicts:
    raced = analyse(ledger)
    worse: dict[GroupStep, frozenset[str]] = {}
    needs: dict[GroupStep, dict[str, float]] = {}
    for number, group in enumerate(raced.groups):
        for verdict in (group.overall, *group.by_step):
            worse[number, verdict.at] = frozenset(map(design_of, verdict.worse))
            needs[number, verdict.at] = needed(group, verdict.at)
    return ReportedVerdicts(
        worse, needs, distinguished(analyse(in_pairs(ledger))), is_relinked(ledger)
    )


def needed(group: Group, at: int | None) -> dict[str, float]:
    steps = group.steps if at is None else [at]
    found: dict[str, list[float]] = {}
    for step in steps:
        for one in group.at(step):
            blocks = one.blocks.get(PRIMARY.name, {}).values()
            found.setdefault(design_of(one.cell.contender), []).extend(map(math.log, blocks))
    return {design: fmean(logs) for design, logs in found.items() if logs}


def in_pairs(ledger: RaceRecord) -> RaceRecord:
    """The same trials as one table of two contenders."""
    order = {cell.contender: cell.contender_order for cell in ledger.cells}
    of_design = pairs(order)
    cells = [
        replace(
            cell,
            contender=FIRST if cell.contender == of_design[design][0] else SECOND,
            contender_order=of_design[design].index(cell.contender),
            connections=cell.connections + FURTHER * number,
        )
        for number, design in enumerate(of_design)
        for cell in ledger.cells
        if cell.contender in of_design[design]
    ]
    environment = {key: value for key, value in ledger.environment.items() if key in ("placement",)}
    inputs = RaceInputs(claims=tuple(map(RecordedClaim, claims_on(cells))))
    return replace(ledger, cells=cells, environment=environment, inputs=inputs)


def claims_on(cells: Sequence[Cell]) -> list[Claim]:
    """Claims that the first of each pair is below the second, at each step. All are undecidable."""
    steps = tuple(sorted({cell.connections for cell in cells}))
    return [
        Claim(
            id=metric,
            says=f"The first is below the second in {metric}.",
            statements=(
                Statement(
                    kind=ORDER,
                    metric=metric,
                    side="client" if metric.startswith("latency") else "server",
                    connections=steps,
                    groups=((FIRST,), (SECOND,)),
                    designs=(FIRST, SECOND),
                ),
            ),
        )
        for metric in CLAIMED
    ]


def distinguished(analysis: Analysis) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for group in analysis.groups:
        for metric in STANDINGS:
            columns = [one for one in group.against if one.metric == metric.name]
            if any(one.outcome != TOO_FEW for one in columns):
                apart = (divmod(one.at, FURTHER) for one in columns if one.outcome == LARGER)
                words = [f"pair {number + 1} at {step:,}" for number, step in apart]
                found.setdefault(metric.name, []).extend(words)
        if PRIMARY.name in found and group.overall.worse and len(group.steps) > 1:
            found[PRIMARY.name].append("over all")
    parts = [
        part for claim in analysis.claims for one in claim.scopes.values() for part in one.parts
    ]
    if parts:
        found[CLAIMS] = [part.label for part in parts if part.verdict in (SUPPORTED, REFUTED)]
    return found
