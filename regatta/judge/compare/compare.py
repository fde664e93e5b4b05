"""The whole comparison, from two ledgers to verdicts and an exit status.

A regression is a change for the worse that exceeds the threshold also after Holm's correction over
all comparisons: if nothing changed, at most 5 of 100 calls raise a false alarm, however many cells
there are. "No regression" needs no correction: the exit status requires it in every cell, so it is
wrong no more often than in the least certain cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from regatta.errors import LedgerError, UsageError
from regatta.judge.analyse import analyse
from regatta.judge.compare.match import Matched, align_rates, differences, match
from regatta.judge.contrast import by_block
from regatta.judge.estimates import OVER, Estimate
from regatta.judge.interval import OpenInterval
from regatta.judge.judged import EXIT, REGRESSION, UNDECIDED, outcome_of, worst_of
from regatta.judge.results import CellResult, rate_words
from regatta.judge.statistics.joint import holm
from regatta.judge.statistics.sign_flips import LEVEL, Floats
from regatta.judge.statistics.units import sittings_of, units_of
from regatta.judge.unpaired import Change, unpaired
from regatta.record.cell import Cell
from regatta.record.metrics import BY_NAME, Metric, side_of
from regatta.record.read import read
from regatta.record.records import OK, SERVER, RaceRecord
from regatta.record.schema import ledger_path

NOT_MEASURED = "not measured"
UNCORRECTED = "beyond the threshold, but not after correction for multiple comparisons"


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
    def results(self) -> dict[int, CellResult]:
        """By cell id."""
        try:
            groups = analyse(self.ledger).groups
        except LedgerError as error:
            raise UsageError(f"{self.path}: {error}") from error
        return {result.cell.id: result for of in groups for result in of.cells}

    def values(self, metric: Metric, cell: Cell) -> Floats | str:
        """One number a block, or a sitting if there are several; or why they are not comparable.

        A contender that fails, or does not hold the rate, served another load. The client's figures
        at a rate that is not held are still valid.
        """
        side, result = side_of(metric), self.results[cell.id]
        why = result.failing or (rate_words(result) if side == SERVER else "")
        blocks = why or by_block(metric, side, self.ledger.trials_of(cell))
        if isinstance(blocks, str):
            return f"in {self.name}: {_state_words(blocks)}"
        return np.array([of for _, of in sorted(units_of(self.ledger).gathered(blocks).items())])


@dataclass(frozen=True, kw_only=True)
class CellComparison(OpenInterval):
    """One cell of both races in one metric: new / old, or new - old of a metric that can be 0, with
    its 95 % interval."""

    cell: Cell
    """The cell of the new race."""
    metric: Metric
    side: str
    old: Estimate
    new: Estimate
    verdict: str = UNDECIDED
    why: str = ""
    """The reason, if the verdict needs one."""
    scale: str | None = None
    """`ratio` or `difference`."""
    beyond: float | None = None
    """The threshold on the same scale: a worse value is a regression."""
    p_value: float | None = None
    """For a true change at the threshold, after Holm's correction."""
    blocks_needed: int | None = None
    """Blocks per race to confirm "no change" at 80 % power; sittings if the races have several."""


@dataclass(frozen=True)
class RaceComparison:
    old: ComparedRace
    new: ComparedRace
    threshold: float
    notices: list[str]
    matched: Matched
    cells: list[CellComparison]

    @property
    def verdict(self) -> str:
        return worst_of([compared.verdict for compared in self.cells])

    @property
    def exit_status(self) -> int:
        return EXIT[self.verdict]


def compare(
    old_path: Path, new_path: Path, threshold: float, metrics: Sequence[str]
) -> RaceComparison:
    """Of two folders of races, or their ledgers. `threshold` is a fraction: 0.05 for 5 %.

    Raises only UsageError, exit status 2: status 1 means a regression.
    """
    known = [_metric(name) for name in dict.fromkeys(metrics)]
    then, now = ledger_path(old_path), ledger_path(new_path)
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
    pairs = [_pair(metric, old, new, cells) for metric in known for cells in matched.pairs]
    cells = decide(pairs, threshold)
    if all(compared.verdict == NOT_MEASURED for compared in cells):
        names = ", ".join(metric.name for metric in known)
        raise UsageError(f"{then} did not measure {names}: {cells[0].why}")
    return RaceComparison(
        old=old,
        new=new,
        threshold=threshold,
        notices=[rates] * bool(rates) + differences(old.ledger, new.ledger, matched),
        matched=matched,
        cells=cells,
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


def _state_words(words: str) -> str:
    return f"{OVER}: some due requests did not start" if words == OVER else words


def _pair(
    metric: Metric, old: ComparedRace, new: ComparedRace, cells: tuple[Cell, Cell]
) -> tuple[CellComparison, Change | None]:
    """A cell of both races as it is without a change, and the change if there is one."""
    (then, now), of = cells, (side_of(metric), metric.name)
    before, after = old.values(metric, then), new.values(metric, now)
    found = CellComparison(
        cell=now,
        metric=metric,
        side=of[0],
        old=old.results[then.id].estimates[of],
        new=new.results[now.id].estimates[of],
    )
    change, why = None, "fewer than two trials in one of the races"
    if isinstance(before, str) or isinstance(after, str):
        why = before if isinstance(before, str) else str(after)
    elif min(old.sittings, new.sittings) == 1 < max(old.sittings, new.sittings):
        why = f"OLD has {old.sittings} and NEW {new.sittings} of the --sittings"
    else:
        change = unpaired(before, after, correlated=new.sittings < 2)
    if change is not None:
        return found, change
    trials = old.ledger.trials_of(then), new.ledger.trials_of(now)
    answered = [any(trial.status == OK for trial in of_race) for of_race in trials]
    if trials[1] and answered == [True, False]:
        # A regression at any threshold.
        reason = trials[1][0].reason or "no reason was recorded"
        why, verdict = f"every trial failed in NEW: {reason}", REGRESSION
    elif found.old.value is None:
        why, verdict = f"in OLD: {_state_words(found.old.state)}", NOT_MEASURED
    elif found.new.value is None:
        why, verdict = f"in NEW: {_state_words(found.new.state)}", UNDECIDED
    else:
        verdict = UNDECIDED
    return replace(found, verdict=verdict, why=why), None


def decide(
    pairs: Sequence[tuple[CellComparison, Change | None]], threshold: float
) -> list[CellComparison]:
    """One result for each pair, in order; `threshold` is a fraction."""
    found = [compared for compared, _ in pairs]
    tested = [
        (at, change, change.beyond(threshold * _worse(compared.metric)))
        for at, (compared, change) in enumerate(pairs)
        if change is not None
    ]
    p_values = holm([change.p_value(beyond) for _, change, beyond in tested])
    for (at, change, beyond), p_value in zip(tested, p_values, strict=True):
        found[at] = _compared(found[at], change, beyond, p_value)
    return found


def _worse(metric: Metric) -> int:
    return 1 if metric.better == "lower" else -1


def _compared(
    compared: CellComparison, change: Change, beyond: float, p_value: float
) -> CellComparison:
    """`p_value`: adjusted for the family."""
    low, high = change.interval()
    worse = _worse(compared.metric)
    least, most = (low, high) if worse > 0 else (-high, -low)
    outcome = outcome_of(least, most, worse * beyond)
    is_uncorrected = outcome == REGRESSION and p_value > LEVEL
    return replace(
        compared,
        verdict=UNDECIDED if is_uncorrected else outcome,
        why=UNCORRECTED if is_uncorrected else "",
        scale=change.scale,
        value=change.value,
        low=low,
        high=high,
        beyond=beyond,
        p_value=p_value,
        blocks_needed=change.blocks_for(beyond),
    )
