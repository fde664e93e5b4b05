"""What a race measured for a claim in one scope: one number a block for each term."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from regatta.analysis.claims.bursts import BURST_TIME
from regatta.analysis.claims.comparisons import Comparison, Term
from regatta.analysis.claims.measures import Measure, measure
from regatta.analysis.claims.result import MeasuredFigure
from regatta.analysis.contrast import by_block, requests_of
from regatta.analysis.estimates import MEASURED, OVER, Estimates, summarize
from regatta.analysis.statistics.slower import Requests
from regatta.analysis.statistics.units import BLOCKS, Units
from regatta.ledger.cell import Cell
from regatta.ledger.given.claim import ITERATIVE, CellSelector, EquivalenceMargin
from regatta.ledger.metrics import FRACTIONS
from regatta.ledger.records import Trial
from regatta.study.claims.metrics import MICROSECONDS

NOT_RACED = "not raced"

Blocks = dict[int, float]
Found = TypeVar("Found")


@dataclass
class RaceResults:
    """The whole race, as claims need it."""

    cells: list[Cell]
    trials: dict[int, list[Trial]]
    estimates: dict[int, Estimates]
    """Both by the cell's number."""
    left_out: dict[str, str]
    taken: dict[tuple[int, str, str], Blocks | str] = field(default_factory=dict)
    """What was computed already, by cell, side and the metric's name."""
    units: Units = BLOCKS


def all_or_words(found: Iterable[Found | str]) -> list[Found] | str:
    """All of them; the first words instead, if one has none."""
    known: list[Found] = []
    for one in found:
        if isinstance(one, str):
            return one
        known.append(one)
    return known


@dataclass(frozen=True)
class Evidence:
    race: RaceResults
    scope: str
    cells: dict[CellSelector, Cell]

    def values(self, term: Term) -> Blocks | str:
        """One number a block, or the words that say why there is none."""
        how = self._how(term)
        mine = self._raw(term.selector, term.side, how)
        if isinstance(mine, str) or not how.over_iterative:
            return mine
        base = self._raw(CellSelector(ITERATIVE, term.selector.connections), term.side, how)
        if isinstance(base, str):
            return base
        return {block: mine[block] - base[block] for block in sorted(mine.keys() & base.keys())}

    def columns(self, comparison: Comparison) -> list[Blocks] | str:
        """The same of each of its terms; the first words where one has none."""
        return all_or_words(map(self.values, comparison.terms))

    def requests(self, term: Term) -> Requests | str:
        """What a percentile is one of, by block."""
        cell = self._cell(term.selector)
        return cell if isinstance(cell, str) else requests_of(self.race.trials.get(cell.id, []))

    def fraction(self, term: Term) -> float | None:
        """Where the term is a percentile of requests."""
        return FRACTIONS.get(self._how(term).metric.name)

    def figure(self, term: Term) -> MeasuredFigure:
        """The term's mean with its interval; of latencies the pooled percentile."""
        how = self._how(term)
        cell = self.cells.get(term.selector)
        if cell is not None and how.metric.name in FRACTIONS:
            found = self.race.estimates[cell.id][term.side, how.metric.name]
            if found.state == OVER and found.low is not None:
                found = replace(found, low=None, state=f"{OVER} {found.low:.3g} {how.metric.unit}")
        else:
            values = self.values(term)
            known = {} if isinstance(values, str) else values
            absent = values if isinstance(values, str) else MEASURED
            found = summarize(list(known.values()), absent, list(known), self.race.units)
        return MeasuredFigure(
            design=term.selector.design,
            connections=term.selector.connections,
            engine=cell.engine if cell else term.selector.engine or "",
            unit=how.metric.unit,
            per=how.per,
            side=term.side,
            metric=term.metric,
            **vars(found),
        )

    def amount(self, term: Term, within: EquivalenceMargin) -> float | None:
        """The margin in the unit of the term's values; of a whole process that of all requests."""
        cell = self.cells.get(term.selector)
        if within.amount is None or cell is None or self._how(term).per != "process":
            return within.amount
        in_ms = 1e-3 if within.unit == MICROSECONDS else 1.0
        return within.amount * in_ms * (cell.rounds or 1) * cell.connections

    def _how(self, term: Term) -> Measure:
        """How it is measured in this cell."""
        cell = self.cells.get(term.selector)
        if term.metric == "latency_max" and cell is not None and cell.load == "burst":
            return Measure(BURST_TIME, "")
        return measure(term.metric, self.scope)

    def _raw(self, selector: CellSelector, side: str, how: Measure) -> Blocks | str:
        cell = self._cell(selector)
        if isinstance(cell, str):
            return cell
        key = (cell.id, side, how.metric.name)
        if key not in self.race.taken:
            trials = self.race.trials.get(cell.id, [])
            self.race.taken[key] = by_block(how.metric, side, trials)
        return self.race.taken[key]

    def _cell(self, selector: CellSelector) -> Cell | str:
        cell = self.cells.get(selector)
        if cell is not None:
            return cell
        reason = self.race.left_out.get(selector.design)
        return NOT_RACED if reason is None else f"{selector.design} cannot run here: {reason}"
