"""The whole comparison, from two ledgers to verdicts and an exit status."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from regatta.errors import LedgerError, UsageError
from regatta.judge.analyse import analyse
from regatta.judge.compare.decide import (
    NOT_MEASURED,
    CellComparison,
    CellPair,
    decide,
    reference_of,
    samples,
    state_words,
)
from regatta.judge.compare.disagreements import Disagreement, Winners, disagreements, winners
from regatta.judge.compare.match import Matched, align_rates, differences, match
from regatta.judge.judged import EXIT, worst_of
from regatta.judge.results import Analysis, CellResult, rate_words
from regatta.judge.statistics.units import sittings_of
from regatta.judge.unpaired import Sample
from regatta.record.cell import Cell
from regatta.record.metrics import BY_NAME, NO_TRIAL, Metric, side_of
from regatta.record.read import read
from regatta.record.records import OK, SERVER, RaceRecord, Trial
from regatta.record.schema import ledger_path


@dataclass(frozen=True)
class ComparisonRequest:
    """What to compare."""

    old: Path
    new: Path
    """Folders of races, or their ledgers."""
    threshold: float
    """A fraction: 0.05 for 5 %."""
    metrics: tuple[str, ...]
    reference: str | None = None
    """A contender that the change did not touch; the others are divided by it."""


@dataclass(frozen=True)
class ComparedRace:
    name: str
    """`OLD` or `NEW`."""
    path: Path
    ledger: RaceRecord

    @property
    def study(self) -> str:
        return self.ledger.meta.get("study_name", "unknown")

    @property
    def versions(self) -> dict[str, Any]:
        found = self.ledger.environment.get("versions")
        return found if isinstance(found, dict) else {}

    @property
    def sittings(self) -> int:
        return sittings_of(self.ledger)

    @cached_property
    def analysis(self) -> Analysis:
        try:
            return analyse(self.ledger)
        except LedgerError as error:
            raise UsageError(f"{self.path}: {error}") from error

    @cached_property
    def results(self) -> dict[int, CellResult]:
        """By cell id."""
        return {result.cell.id: result for of in self.analysis.groups for result in of.cells}

    def samples(self, metric: Metric, reference: str | None) -> dict[int, Sample | str]:
        """By cell id; or why a cell's figures are not comparable."""
        known = samples(metric, self.ledger, reference)
        references = [one for one in self.ledger.cells if one.contender == reference]
        found: dict[int, Sample | str] = {}
        for cell in self.ledger.cells:
            beside = reference_of(cell, references)
            why = _not_comparable(metric, self.results[cell.id])
            if not why and beside is not None:
                why = _not_comparable(metric, self.results[beside.id], f"{reference} ")
            sample = known.get(cell.id, NO_TRIAL)
            if not why and isinstance(sample, str):
                why = state_words(sample)
            found[cell.id] = f"in {self.name}: {why}" if why else sample
        return found


@dataclass(frozen=True)
class RaceComparison:
    old: ComparedRace
    new: ComparedRace
    threshold: float
    reference: str | None
    notices: list[str]
    matched: Matched
    cells: list[CellComparison]
    winners: list[Winners]
    disagreements: list[Disagreement]
    """Ranks and claims on which the two disagree."""

    @property
    def verdict(self) -> str:
        return worst_of([compared.verdict for compared in self.cells])

    @property
    def exit_status(self) -> int:
        return EXIT[self.verdict]


def compare(request: ComparisonRequest) -> RaceComparison:
    """Raises only UsageError, exit status 2: status 1 means a regression."""
    metrics = [_metric(name) for name in dict.fromkeys(request.metrics)]
    then, now = (ledger_path(folder) for folder in (request.old, request.new))
    if then.resolve() == now.resolve():
        raise UsageError(f"OLD and NEW are the same ledger, {then}; name two races")
    new = ComparedRace("NEW", now, _read(now))
    before, rates = align_rates(new.ledger, _read(then))
    old = ComparedRace("OLD", then, before)
    matched = match(old.ledger, new.ledger)
    if not matched.pairs:
        raise UsageError(
            f"{then} and {now} have no cell in common (studies {old.study} and {new.study}), so "
            "nothing can be compared"
        )
    if request.reference is not None:
        matched = _without_reference(matched, request.reference)
    pairs = [
        pair
        for metric in metrics
        for pair in _pairs(matched.pairs, (old, new), metric, request.reference)
    ]
    cells = decide(pairs, request.threshold)
    if all(compared.verdict == NOT_MEASURED for compared in cells):
        names = ", ".join(metric.name for metric in metrics)
        raise UsageError(f"{then} did not measure {names}: {cells[0].why}")
    return RaceComparison(
        old=old,
        new=new,
        threshold=request.threshold,
        reference=request.reference,
        notices=[rates] * bool(rates) + differences(old.ledger, new.ledger, matched),
        matched=matched,
        cells=cells,
        winners=winners(old.analysis, new.analysis),
        disagreements=disagreements(old.analysis, new.analysis),
    )


def _metric(name: str) -> Metric:
    metric = BY_NAME.get(name)
    if metric is None or not metric.better:
        known = ", ".join(each.name for each in BY_NAME.values() if each.better)
        raise UsageError(f"--metric is {name}; it must be one of {known}")
    return metric


def _read(path: Path) -> RaceRecord:
    try:
        return read(path)
    except LedgerError as error:
        raise UsageError(str(error)) from error
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: the ledger cannot be read ({error}); is it complete?") from error


def _without_reference(matched: Matched, reference: str) -> Matched:
    names = sorted({cell.contender for _, cell in matched.pairs})
    pairs = [pair for pair in matched.pairs if pair[1].contender != reference]
    if reference not in names or not pairs:
        raise UsageError(
            f"--reference is {reference}; it must be one of several contenders of both races, "
            f"which are {', '.join(names)}"
        )
    return replace(matched, pairs=pairs)


def _pairs(
    matched: list[tuple[Cell, Cell]],
    races: tuple[ComparedRace, ComparedRace],
    metric: Metric,
    reference: str | None,
) -> Iterator[CellPair]:
    old, new = races
    before, after = (race.samples(metric, reference) for race in races)
    of = side_of(metric), metric.name
    for then, now in matched:
        ours, theirs = after[now.id], before[then.id]
        if isinstance(theirs, str):
            both: tuple[Sample, Sample] | str = theirs
        else:
            both = ours if isinstance(ours, str) else (theirs, ours)
        yield CellPair(
            now,
            metric,
            old.results[then.id].estimates[of],
            new.results[now.id].estimates[of],
            both,
            _broken(old.ledger.trials_of(then), new.ledger.trials_of(now)),
        )


def _not_comparable(metric: Metric, result: CellResult, reference: str = "") -> str:
    """Why figures are not comparable: a contender that fails, or does not hold the rate, served
    another load.

    The client's figures at a rate that is not held are still valid, but not as a reference.
    `reference` is its name and a space if `result` is the reference's.
    """
    is_load = side_of(metric) == SERVER or reference
    words = result.failing or (is_load and rate_words(result))
    return f"{reference}{words}" if words else ""


def _broken(old: list[Trial], new: list[Trial]) -> str | None:
    """Why a server that answered before fails every trial now: a regression at any threshold."""
    answers = [any(trial.status == OK for trial in trials) for trials in (old, new)]
    if not new or answers != [True, False]:
        return None
    return new[0].reason or "no reason was recorded"
