"""Finds the cells near a situation in this machine's ledgers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regatta.advise.situation import Situation, distance
from regatta.analysis.contrast import by_block
from regatta.analysis.estimates import Estimate, estimate_cell, usable
from regatta.analysis.held_rates import HOLDS, held_groups
from regatta.analysis.per_connection import WEIGHED
from regatta.analysis.soundness.failing import failing
from regatta.analysis.soundness.open_load import started
from regatta.analysis.statistics.sign_flips import BlockValues
from regatta.analysis.statistics.units import BLOCKS, Units, units_of
from regatta.errors import LedgerError
from regatta.ledger.cell import Cell
from regatta.ledger.metrics import BUSY, P50, P99, PRIMARY, THROUGHPUT, side_of
from regatta.ledger.read import read
from regatta.ledger.records import RaceRecord, Trial
from regatta.ledger.result import OK
from regatta.ledger.schema import FILE_NAME, ledger_path
from regatta.report.text.numbers import plural
from regatta.study.matched import MATCHED

HeldRates = dict[tuple[object, ...], float]
"""Requests/s by the identity of a matched cell."""
MEMORY, KERNEL = WEIGHED
SAME_MACHINE = ("cpu_model", "cpus", "architecture")


@dataclass(frozen=True)
class MeasuredDesign:
    """The figures of one design in one cell."""

    design: str
    cell: Cell
    cpu: Estimate
    """µs per request."""
    p50: Estimate
    """ms."""
    p99: Estimate
    throughput: Estimate
    """Requests/s."""
    memory: Estimate
    """MiB of its processes with idle connections open; no value without `whole_cost`."""
    kernel: Estimate
    """MiB that the kernel held for it; the same."""
    failed: str | None
    """Why all trials failed, if they did."""
    blocks: BlockValues
    """Server CPU per request in each block, as it was charged."""
    busy: BlockValues
    """How long its CPUs were busy per request in each block."""
    failing: str = ""
    """In how many trials it failed, if too many."""
    holds: float | None = None
    """The highest rate that it holds, if a search found it."""
    started: float | None = None
    """Under an open load, the fraction of the due requests that were started."""


@dataclass(frozen=True)
class MeasuredGroup:
    """Cells of one race that differ only in the design and are therefore comparable."""

    race: Path
    created_at: float
    distance: float
    elsewhere: bool
    """Whether it was raced on another machine."""
    server_cpus: int | None
    measured: list[MeasuredDesign]
    units: Units = BLOCKS
    """The independent units of the race."""

    @property
    def cell(self) -> Cell:
        return self.measured[0].cell


@dataclass(frozen=True)
class Found:
    groups: list[MeasuredGroup]
    """The nearest first, and the newer first of equally near ones."""
    ledgers: int
    """The number of ledgers read."""
    notes: list[str]
    raced: list[Cell]
    """All their cells, near or not."""


def search(
    situation: Situation, ledgers: Sequence[Path], races: Path, machine: dict[str, Any]
) -> Found:
    """Searches the given ledgers, or all of this machine in `races`."""
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
        left_out = plural(others, "race")
        notes.append(f"Left out {left_out} of other machines; --ledger includes them.")
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
            continue  # the race was stopped before this cell
        far = distance(situation, cells[0], cpus)
        assert far is not None, "only near cells are kept"
        created = float(ledger.meta.get("created_at") or 0)
        found.append(MeasuredGroup(path, created, far, elsewhere, cpus, measured, units))
    return found


def _parted(cells: list[Cell]) -> list[list[Cell]]:
    """Splits cells by what is asked if a contender would otherwise appear twice."""
    if len({(cell.contender, cell.workers) for cell in cells}) == len(cells):
        return [cells]
    asked = dict.fromkeys(map(_asked, cells))
    return [[cell for cell in cells if _asked(cell) == one] for one in asked]


def _asked(cell: Cell) -> tuple[str | None, ...]:
    return cell.path, cell.request, cell.until, cell.requests


def _server_cpus(ledger: RaceRecord) -> int | None:
    placement = ledger.environment.get("placement")
    cpus = placement.get("server_cpus") if isinstance(placement, dict) else None
    return len(cpus) if isinstance(cpus, list) else None


def _held(ledger: RaceRecord) -> HeldRates:
    """The rate that each matched cell holds, unless the client was the bottleneck."""
    members = (one for group in held_groups(ledger) for one in group.members)
    return {
        one.cell.identity(): one.rate.high or one.rate.value
        for one in members
        if one.state == HOLDS and one.rate.value is not None
    }


def _measured(cell: Cell, trials: list[Trial], held: HeldRates, units: Units) -> MeasuredDesign:
    estimates, _ = estimate_cell(trials, units)
    accounts = (by_block(metric, side_of(metric), trials) for metric in (PRIMARY, BUSY))
    blocks, busy = ({} if isinstance(one, str) else one for one in accounts)
    all_failed = bool(trials) and all(trial.status != OK for trial in trials)
    return MeasuredDesign(
        design=cell.contender,
        cell=cell,
        cpu=estimates[side_of(PRIMARY), PRIMARY.name],
        p50=estimates[side_of(P50), P50.name],
        p99=estimates[side_of(P99), P99.name],
        throughput=estimates[side_of(THROUGHPUT), THROUGHPUT.name],
        memory=estimates[side_of(MEMORY), MEMORY.name],
        kernel=estimates[side_of(KERNEL), KERNEL.name],
        failed=(trials[0].reason or "no reason was recorded") if all_failed else None,
        blocks=blocks,
        busy=busy,
        failing=failing(trials),
        holds=held.get(replace(cell, load=MATCHED, rate=None).identity()),
        started=started(cell, usable(trials)),
    )
