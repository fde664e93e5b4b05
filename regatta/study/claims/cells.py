"""Which cells a claim is over.

All cells of a claim are alike but for what it compares: the same work, load, client engine, pool.
Where several such families have all its cells, the first of the study stands; a claim's `engine`,
`workers`, `work` … name another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from regatta.errors import StudyError
from regatta.ledger.axes import AXES
from regatta.ledger.cell import PROCESS, TRAITS, Cell
from regatta.ledger.given.claim import Claim, Place
from regatta.study.limits import SCOPES

ALIKE = (
    *TRAITS,
    "linger_s",
    *(name for name in AXES if name not in ("connections", "workers")),
)

AnyCell = TypeVar("AnyCell", bound=Cell)


def claim_cells(claim: Claim, cells: Sequence[AnyCell], scope: str) -> dict[Place, AnyCell]:
    """The cells of the claim in one scope, in the order of the study; a place without is left out.

    Of several families that has most of them which comes first.
    """
    places = claim.places()
    names = {place.design for place in places}
    own = claim.process_engines if scope == PROCESS else {}
    fits = [
        cell
        for cell in cells
        if cell.scope == scope
        and cell.contender in names
        and cell.engine == own.get(cell.contender, cell.engine)
        and _fits(claim, cell)
    ]
    engines = own or any(place.engine is not None for place in places)
    alike = [name for name in ALIKE if not (engines and name == "engine")]
    best: dict[Place, AnyCell] = {}
    for family, workers in dict.fromkeys((_key(cell, alike), cell.workers) for cell in fits):
        members = [
            cell for cell in fits if _key(cell, alike) == family and cell.workers in (workers, None)
        ]
        found = {place: cell for place in places for cell in reversed(members) if _at(place, cell)}
        if len(found) > len(best):
            best = found
    return best


def check_cells(claim: Claim, cells: Sequence[Cell]) -> None:
    """A claim must be over cells of the study, in one of its scopes at least."""
    missing: list[Place] = []
    for scope in SCOPES:
        found = claim_cells(claim, cells, scope)
        lacks = [place for place in claim.places() if place not in found]
        if not lacks:
            return
        if not missing or len(lacks) < len(missing):
            missing = lacks
    place = missing[0]
    words = f"{place.design} at {AXES['connections'].count(place.connections)}"
    engine = place.engine or claim.where.get("engine")
    words += f" with the engine {engine}" if engine else ""
    others = {name: value for name, value in claim.where.items() if name != "engine"}
    words += "".join(f", {name} {value}" for name, value in others.items())
    raise StudyError(
        f"the claim {claim.id} is over a cell that is not in the study: {words}; "
        "add it to [[cells]], or remove the claim"
    )


def _fits(claim: Claim, cell: Cell) -> bool:
    """A design without a pool fits a claim over pools of any size."""
    return all(
        getattr(cell, name) == value or (name == "workers" and cell.workers is None)
        for name, value in claim.where.items()
    )


def _key(cell: Cell, alike: Sequence[str]) -> tuple[object, ...]:
    return tuple(getattr(cell, name) for name in alike)


def _at(place: Place, cell: Cell) -> bool:
    return (
        place.design == cell.contender
        and place.connections == cell.connections
        and place.engine in (cell.engine, None)
    )
