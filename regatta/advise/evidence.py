"""What this machine's ledgers hold that is near a situation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regatta.advise.situation import Situation, distance
from regatta.analysis.contrast import by_block
from regatta.analysis.estimates import Estimate, estimate_cell, usable
from regatta.analysis.held import HOLDS, held_groups
from regatta.analysis.soundness.failing import failing
from regatta.analysis.soundness.rate import started
from regatta.analysis.statistics.units import BLOCKS, Units, units_of
from regatta.errors import LedgerError
from regatta.ledger.cell import Cell
from regatta.ledger.metrics import P50, P99, PRIMARY, THROUGHPUT, side_of
from regatta.ledger.read import read
from regatta.ledger.records import RaceRecord, Trial
from regatta.ledger.result import OK
from regatta.ledger.schema import FILE_NAME, ledger_path
from regatta.study.matched import MATCHED

HeldRates = dict[tuple[object, ...], float]
"""Requests a second by the identity of a matched cell."""
SAME_MACHINE = ("cpu_model", "cpus", "architecture")


@dataclass(frozen=True)
class MeasuredDesign:
    """One design in one place."""

    design: str
    cell: Cell
    cpu: Estimate
    """µs a request."""
    p50: Estimate
    """ms."""
    p99: Estimate
    throughput: Estimate
    """Requests a second."""
    failed: str | None
    """Why no trial succeeded, if none did."""
    blocks: dict[int, float]
    """Its server CPU per request in each block."""
    failing: str = ""
    """In how many trials it failed, if in too many."""
    holds: float | None = None
    """The highest rate it holds, if a search found it; None: unknown."""
    started: float | None = None
    """Of an open load: the share of what was due that was started."""


@dataclass(frozen=True)
class MeasuredGroup:
    """Cells of one race that differ only in the design: these may be compared."""

    race: Path
    created_at: float
    distance: float
    elsewhere: bool
    """It was raced on another machine."""
    server_cpus: int | None
    measured: list[MeasuredDesign]
    units: Units = BLOCKS
    """Its race's."""

    @property
    def cell(self) -> Cell:
        return self.measured[0].cell


@dataclass(frozen=True)
class Found:
    groups: list[MeasuredGroup]
    """Nearest first; of equally near ones the newer first."""
    ledgers: int
    """Ledgers that were read."""
    notes: list[str]
    raced: list[Cell]
    """All cells of them, near or not."""


def search(
    situation: Situation, ledgers: Sequence[Path], races: Path, machine: dict[str, Any]
) -> Found:
    """In the given ledgers, else in all of this machine's in `races`."""
    named = bool(ledgers)
    paths = [ledger_path(path) for path in ledgers] or sorted(races.glob(f"*/{FILE_NAME}"))
    groups: list[MeasuredGroup] = []
    notes: list[str] = []
    raced: list[Cell] = []
    count, others = 0, 0
    for path in paths:
        try:
            ledger = read(path)
            elsewhere = not _same_machine(ledger, machine)
            if elsewhere and not named:
                others += 1
                continue
            near = _groups(situation, ledger, path, elsewhere)
        except LedgerError as error:
            if named:
                raise
            notes.append(f"Not read: {error}.")
            continue
        count += 1
        raced += ledger.cells
        groups += near
    if others:
        races_word = "race" if others == 1 else "races"
        notes.append(f"{others} {races_word} of another machine left out; --ledger takes them in.")
    groups.sort(key=lambda group: (group.distance, -group.created_at))
    return Found(groups, count, notes, raced)


def _same_machine(ledger: RaceRecord, machine: dict[str, Any]) -> bool:
    return all(ledger.environment.get(key) == machine.get(key) for key in SAME_MACHINE)


def _groups(
    situation: Situation, ledger: RaceRecord, path: Path, elsewhere: bool
) -> list[MeasuredGroup]:
    designs = ledger.environment.get("designs")
    known = designs if isinstance(designs, dict) else {}
    cpus = _server_cpus(ledger)
    held = _held(ledger)
    units = units_of(ledger)
    together: dict[tuple[object, ...], list[Cell]] = {}
    for cell in ledger.cells:
        if cell.contender in known and distance(situation, cell, cpus) is not None:
            together.setdefault(cell.comparison_key(), []).append(cell)
    found = []
    for cells in (part for alike in together.values() for part in _parted(alike)):
        try:
            measured = [_measured(cell, ledger.trials_of(cell), held, units) for cell in cells]
        except LedgerError as error:  # samples are unpacked only here
            raise LedgerError(f"{path}: {error}") from error
        if all(one.cpu.value is None and one.failed is None for one in measured):
            continue  # a race that was stopped before this cell
        far = distance(situation, cells[0], cpus)
        assert far is not None, "only near cells are kept"
        created = float(ledger.meta.get("created_at") or 0)
        found.append(MeasuredGroup(path, created, far, elsewhere, cpus, measured, units))
    return found


def _parted(cells: list[Cell]) -> list[list[Cell]]:
    """Split by what is asked for, if a contender would otherwise appear twice."""
    if len({(cell.contender, cell.workers) for cell in cells}) == len(cells):
        return [cells]
    asked = dict.fromkeys((cell.path, cell.request) for cell in cells)
    return [[cell for cell in cells if (cell.path, cell.request) == one] for one in asked]


def _server_cpus(ledger: RaceRecord) -> int | None:
    placement = ledger.environment.get("placement")
    cpus = placement.get("server_cpus") if isinstance(placement, dict) else None
    return len(cpus) if isinstance(cpus, list) else None


def _held(ledger: RaceRecord) -> HeldRates:
    """What a server was found to hold, unless its client was the limit."""
    members = (one for group in held_groups(ledger) for one in group.members)
    return {
        one.cell.identity(): one.rate.high or one.rate.value
        for one in members
        if one.state == HOLDS and one.rate.value is not None
    }


def _measured(cell: Cell, trials: list[Trial], held: HeldRates, units: Units) -> MeasuredDesign:
    estimates, _ = estimate_cell(trials, units)
    blocks = by_block(PRIMARY, side_of(PRIMARY), trials)
    all_failed = bool(trials) and all(trial.status != OK for trial in trials)
    return MeasuredDesign(
        design=cell.contender,
        cell=cell,
        cpu=estimates[side_of(PRIMARY), PRIMARY.name],
        p50=estimates[side_of(P50), P50.name],
        p99=estimates[side_of(P99), P99.name],
        throughput=estimates[side_of(THROUGHPUT), THROUGHPUT.name],
        failed=(trials[0].reason or "no reason was recorded") if all_failed else None,
        blocks={} if isinstance(blocks, str) else blocks,
        failing=failing(trials),
        holds=held.get(replace(cell, load=MATCHED, rate=None).identity()),
        started=started(cell, usable(trials)),
    )
