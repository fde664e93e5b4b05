"""The whole comparison, from two ledgers to verdicts and an exit status."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regatta.errors import LedgerError, UsageError
from regatta.judge.analyse import analyse
from regatta.judge.compare.decide import (
    EXIT,
    NOT_MEASURED,
    CellComparison,
    CellPair,
    decide,
    reference_of,
    samples,
    worst_of,
)
from regatta.judge.compare.disagreements import Agreement, Disagreement, agree, disagreements
from regatta.judge.compare.match import Matched, align_durations, align_rates, differences, match
from regatta.judge.results import Analysis, CellResult, rate_words
from regatta.judge.statistics.units import sittings_of
from regatta.judge.unpaired import Sample
from regatta.record.cell import Cell
from regatta.record.metrics import BY_NAME, Metric, side_of
from regatta.record.read import read
from regatta.record.records import OK, SERVER, RaceRecord
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
class RaceSummary:
    """What a comparison reports about each race."""

    path: Path
    study: str
    created_at: str | None
    sittings: int
    versions: dict[str, Any]


@dataclass(frozen=True)
class RaceComparison:
    old: RaceSummary
    new: RaceSummary
    threshold: float
    reference: str | None
    notices: list[str]
    matched: Matched
    cells: list[CellComparison]
    agreement: Agreement
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
    paths = [ledger_path(folder) for folder in (request.old, request.new)]
    if paths[0].resolve() == paths[1].resolve():
        raise UsageError(f"OLD and NEW are the same ledger, {paths[0]}; name two races")
    old, new = (_read(path) for path in paths)
    old, rates = align_rates(new, align_durations(old, new))
    matched = match(old, new)
    if not matched.pairs:
        raise UsageError(
            f"{paths[0]} and {paths[1]} have no cell in common (studies "
            f"{old.meta.get('study_name')} and {new.meta.get('study_name')}), so nothing can be "
            "compared"
        )
    if request.reference is not None:
        matched = _without_reference(matched, request.reference)
    results = [_analyse(path, ledger) for path, ledger in zip(paths, (old, new), strict=True)]
    pairs = [
        pair
        for metric in metrics
        for pair in _pairs(
            matched,
            [samples(metric, ledger, request.reference) for ledger in (old, new)],
            metric,
            (old, new),
            results,
            request.reference,
        )
    ]
    cells = decide(pairs, request.threshold)
    if all(compared.verdict == NOT_MEASURED for compared in cells):
        names = ", ".join(metric.name for metric in metrics)
        raise UsageError(f"{paths[0]} did not measure {names}: {cells[0].why}")
    return RaceComparison(
        old=_race(paths[0], old),
        new=_race(paths[1], new),
        threshold=request.threshold,
        reference=request.reference,
        notices=[line for line in (rates, *differences(old, new, matched)) if line],
        matched=matched,
        cells=cells,
        agreement=agree(*results),
        disagreements=disagreements(*results),
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


def _analyse(path: Path, ledger: RaceRecord) -> Analysis:
    try:
        return analyse(ledger)
    except LedgerError as error:
        raise UsageError(f"{path}: {error}") from error


def _race(path: Path, ledger: RaceRecord) -> RaceSummary:
    versions = ledger.environment.get("versions")
    return RaceSummary(
        path,
        ledger.meta.get("study_name", "unknown"),
        ledger.meta.get("created_at"),
        sittings_of(ledger),
        versions if isinstance(versions, dict) else {},
    )


def _without_reference(matched: Matched, reference: str) -> Matched:
    names = sorted({cell.contender for _, cell in matched.pairs})
    pairs = [pair for pair in matched.pairs if pair[1].contender != reference]
    if reference not in names or not pairs:
        raise UsageError(
            f"--reference is {reference}; it must be one of several contenders of both races, "
            f"which are {', '.join(names)}"
        )
    return replace(matched, pairs=pairs)


def _pairs(  # noqa: PLR0913, PLR0917  (everything a verdict depends on)
    matched: Matched,
    values: list[dict[int, Sample | str]],
    metric: Metric,
    ledgers: tuple[RaceRecord, RaceRecord],
    results: list[Analysis],
    reference: str | None,
) -> list[CellPair]:
    known = [
        {result.cell.id: result for group in analysis.groups for result in group.cells}
        for analysis in results
    ]
    references = [[each for each in one.cells if each.contender == reference] for one in ledgers]
    found = []
    for cells in matched.pairs:
        old, new = (values[side].get(cell.id, "no trial") for side, cell in enumerate(cells))
        if isinstance(old, str):
            both: tuple[Sample, Sample] | str = old
        else:
            both = new if isinstance(new, str) else (old, new)
        of_cells = [known[side][cell.id] for side, cell in enumerate(cells)]
        of_references = [
            known[side][one.id] if (one := reference_of(cell, references[side])) else None
            for side, cell in enumerate(cells)
        ]
        not_comparable = _not_comparable(metric, of_cells) or _not_comparable(
            metric, of_references, f"{reference} "
        )
        both = not_comparable or both
        then, now = (one.estimates[side_of(metric), metric.name] for one in of_cells)
        found.append(CellPair(cells[1], metric, then, now, both, _broken(ledgers, cells)))
    return found


def _not_comparable(
    metric: Metric, results: Sequence[CellResult | None], reference: str = ""
) -> str:
    """Why figures are not comparable: a contender that fails, or does not hold the rate, served
    another load.

    The client's figures at a rate that is not held are still valid, but not as a reference.
    `reference` is its name and a space if `results` are the reference's.
    """
    is_load = side_of(metric) == SERVER or reference
    for at, result in zip(("OLD", "NEW"), results, strict=True):
        words = result and (result.failing or (is_load and rate_words(result)))
        if words:
            return f"in {at}: {reference}{words}"
    return ""


def _broken(ledgers: tuple[RaceRecord, RaceRecord], cells: tuple[Cell, Cell]) -> str | None:
    """Why a server that answered before fails every trial now: a regression at any threshold."""
    old, new = (ledger.trials_of(cell) for ledger, cell in zip(ledgers, cells, strict=True))
    answers = [any(trial.status == OK for trial in trials) for trials in (old, new)]
    if not new or answers != [True, False]:
        return None
    return new[0].reason or "no reason was recorded"
