"""Finds the cells that a claim is about.

All cells of a claim agree in everything that it does not compare: work, load, client engine, pool.
If several such families have all its cells, the first one in the study is used; the claim's keys
`engine`, `workers`, `work` ... select another.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from regatta.errors import StudyError
from regatta.record.cell import AS_STARTED, AXES, PROCESS, TRAITS, Cell
from regatta.record.inputs import CellSelector, Claim
from regatta.record.study.limits import SCOPES

SAME_IN_A_CLAIM = (
    *TRAITS,
    *AS_STARTED,
    *(name for name in AXES if name not in ("connections", "workers")),
)

AnyCell = TypeVar("AnyCell", bound=Cell)


def claim_cells(claim: Claim, cells: Sequence[AnyCell], scope: str) -> dict[CellSelector, AnyCell]:
    """The cells of the claim in one scope, in the order of the study; missing ones are left out.

    Uses the family with the most cells, the first one of several.
    """
    selectors = claim.selectors()
    names = {selector.design for selector in selectors}
    process_engines = claim.process_engines if scope == PROCESS else {}
    fits = [
        cell
        for cell in cells
        if cell.scope == scope
        and cell.contender in names
        and cell.engine == process_engines.get(cell.contender, cell.engine)
        and _fits(claim, cell)
    ]
    engines = process_engines or any(selector.engine is not None for selector in selectors)
    same_fields = [name for name in SAME_IN_A_CLAIM if not (engines and name == "engine")]
    best: dict[CellSelector, AnyCell] = {}
    for family, workers in dict.fromkeys((_key(cell, same_fields), cell.workers) for cell in fits):
        members = [
            cell
            for cell in fits
            if _key(cell, same_fields) == family and cell.workers in (workers, None)
        ]
        found = {
            selector: cell
            for selector in selectors
            for cell in reversed(members)
            if _selects(selector, cell)
        }
        if len(found) > len(best):
            best = found
    return best


def with_study_connections(claim: Claim, cells: Sequence[Cell]) -> Claim:
    """Fills in missing `connections`: all numbers at which one scope has all cells of the claim.

    The claim is returned unchanged if there is no such scope.
    """
    if all(said.connections for said in claim.statements):
        return claim
    counts = tuple(sorted({cell.connections for cell in cells}))
    raced = {cell.contender for cell in cells}
    for scope in SCOPES:
        found = claim_cells(_over(claim, counts), cells, scope)
        unnamed = [said for said in claim.statements if not said.connections]
        complete = tuple(
            count
            for count in counts
            if all(
                selector in found
                for said in unnamed
                for selector in replace(said, connections=(count,)).selectors()
                if selector.design in raced
            )
        )
        if complete:
            return _over(claim, complete)
    return claim


def _over(claim: Claim, counts: tuple[int, ...]) -> Claim:
    statements = (
        said if said.connections else replace(said, connections=counts) for said in claim.statements
    )
    return replace(claim, statements=tuple(statements))


def check_cells(claim: Claim, cells: Sequence[Cell]) -> None:
    """StudyError unless the study has all cells of the claim in at least one scope."""
    missing: list[CellSelector] = []
    for scope in SCOPES:
        found = claim_cells(claim, cells, scope)
        lacks = [selector for selector in claim.selectors() if selector not in found]
        if not lacks:
            return
        if not missing or len(lacks) < len(missing):
            missing = lacks
    selector = missing[0]
    words = f"{selector.design} at {AXES['connections'].count(selector.connections)}"
    engine = selector.engine or claim.where.get("engine")
    words += f" with the engine {engine}" if engine else ""
    others = {name: value for name, value in claim.where.items() if name != "engine"}
    words += "".join(f", {name} {value}" for name, value in others.items())
    raise StudyError(
        f"the claim {claim.id} is about a cell that is not in the study: {words}; "
        "add it to [[cells]], or remove the claim"
    )


def _fits(claim: Claim, cell: Cell) -> bool:
    """A design without a pool matches a claim about pools of any size."""
    return all(
        getattr(cell, name) == value or (name == "workers" and cell.workers is None)
        for name, value in claim.where.items()
    )


def _key(cell: Cell, same_fields: Sequence[str]) -> tuple[object, ...]:
    return tuple(getattr(cell, name) for name in same_fields)


def _selects(selector: CellSelector, cell: Cell) -> bool:
    return (
        selector.design == cell.contender
        and selector.connections == cell.connections
        and selector.engine in (cell.engine, None)
    )
