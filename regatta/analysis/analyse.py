"""The whole analysis: a ledger in, everything that tables and pictures show out."""

from collections import Counter as Tally
from dataclasses import dataclass
from typing import Any

from regatta.analysis.estimates import Estimates, Latencies, estimate_cell, readings
from regatta.analysis.metrics import PRIMARY
from regatta.analysis.perf_table import PerfTable, perf_table
from regatta.analysis.standings import Verdict, verdicts
from regatta.ledger_read import Cell, Ledger, Trial


@dataclass(frozen=True)
class CellResult:
    cell: Cell
    estimates: Estimates
    latencies: Latencies
    perf: PerfTable
    failed: int
    ok: int


@dataclass(frozen=True)
class Group:
    """Cells that differ only in contender and number of connections: what is compared."""

    title: str
    """What the cells share, in words; the parts that all groups share are left out."""
    facts: dict[str, Any]
    cells: list[CellResult]
    by_connections: list[Verdict]
    overall: Verdict

    def at(self, connections: int) -> list[CellResult]:
        return [result for result in self.cells if result.cell.connections == connections]

    @property
    def connections(self) -> list[int]:
        return sorted({result.cell.connections for result in self.cells})


@dataclass(frozen=True)
class Failure:
    cell: Cell
    trial: Trial


@dataclass(frozen=True)
class Analysis:
    meta: dict[str, str]
    environment: dict[str, Any]
    contenders: list[str]
    """In their order: the same in every table and picture."""
    groups: list[Group]
    failures: list[Failure]
    trials: int
    planned: int
    trial_kinds: dict[str, int]


FACTS = ("work", "load", "engine", "dialect", "rounds", "duration_s", "per_connection", "placement")


def analyse(ledger: Ledger) -> Analysis:
    trials: dict[int, list[Trial]] = {}
    for trial in ledger.trials:
        trials.setdefault(trial.cell_id, []).append(trial)
    cells = {cell.id: cell for cell in ledger.cells}
    order = {cell.contender: cell.contender_order for cell in ledger.cells}
    grouped = _grouped(ledger.cells)
    kinds = Tally(trial.kind for trial in ledger.trials if trial.status == "ok")
    return Analysis(
        meta=ledger.meta,
        environment=ledger.environment,
        contenders=sorted(order, key=lambda name: (order[name], name)),
        groups=[
            _group(_title(facts, list(grouped)), dict(facts), members, trials)
            for facts, members in grouped.items()
        ],
        failures=[
            Failure(cells[trial.cell_id], trial) for trial in ledger.trials if trial.status != "ok"
        ],
        trials=len(ledger.trials),
        planned=ledger.planned,
        trial_kinds=dict(kinds),
    )


Facts = tuple[tuple[str, Any], ...]


def _grouped(cells: list[Cell]) -> dict[Facts, list[Cell]]:
    """Rounds usually follow from the connections, so they part cells only where they must."""
    taken = Tally(_facts(cell, "rounds") + (cell.contender, cell.connections) for cell in cells)
    ambiguous = {key[:-2] for key, count in taken.items() if count > 1}
    grouped: dict[Facts, list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.id):
        short = _facts(cell, "rounds")
        key = _facts(cell) if short in ambiguous else short
        grouped.setdefault(key, []).append(cell)
    return grouped


def _facts(cell: Cell, without: str = "") -> tuple[Any, ...]:
    return tuple(
        (name, getattr(cell, name))
        for name in FACTS
        if name != without and getattr(cell, name) is not None
    )


def _title(facts: Facts, all_facts: list[Facts]) -> str:
    """What sets this group apart; alone it says work, load and engine."""
    shared = set.intersection(*(set(other) for other in all_facts))
    telling = [fact for fact in facts if fact not in shared]
    if not telling:
        telling = [fact for fact in facts if fact[0] in ("work", "load", "engine")]
    return ", ".join(f"{name.removesuffix('_s')} {_shown(name, value)}" for name, value in telling)


def _shown(name: str, value: Any) -> str:
    return f"{value:g} s" if name.endswith("_s") else str(value)


def _group(
    title: str, facts: dict[str, Any], cells: list[Cell], trials: dict[int, list[Trial]]
) -> Group:
    ordered = sorted(
        cells, key=lambda cell: (cell.connections, cell.contender_order, cell.contender)
    )
    results = [_result(cell, trials.get(cell.id, [])) for cell in ordered]
    values: dict[int, dict[str, dict[int, float]]] = {}
    for cell in ordered:
        by_contender = values.setdefault(cell.connections, {})
        by_contender[cell.contender] = _by_block(trials.get(cell.id, []))
    by_connections, overall = verdicts(values)
    return Group(title, facts, results, by_connections, overall)


def _result(cell: Cell, trials: list[Trial]) -> CellResult:
    estimates, latencies = estimate_cell(trials)
    failed = sum(trial.status != "ok" for trial in trials)
    return CellResult(cell, estimates, latencies, perf_table(trials), failed, len(trials) - failed)


def _by_block(trials: list[Trial]) -> dict[int, float]:
    found: dict[int, float] = {}
    for trial in trials:
        if trial.status == "ok":
            for reading in readings(PRIMARY, "server", [trial]):
                if not isinstance(reading, str):
                    found[trial.block] = reading
    return found
