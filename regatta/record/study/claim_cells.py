"""Finds the cells that a claim is about.

All cells of a claim agree in everything that it does not compare: work, load, client engine, pool.
If several such families have all its cells, the first one in the study is used; the claim's keys
`engine`, `workers`, `work` ... select another.
"""

from collections.abc import Sequence
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
    same = [name for name in SAME_IN_A_CLAIM if not (process_engines and name == "engine")]
    families: dict[tuple[object, ...], list[AnyCell]] = {}
    for cell in cells:
        if (
            cell.scope == scope
            and cell.contender in names
            and cell.engine == process_engines.get(cell.contender, cell.engine)
            and _fits(claim, cell)
        ):
            families.setdefault(tuple(getattr(cell, name) for name in same), []).append(cell)
    best: dict[CellSelector, AnyCell] = {}
    for family in families.values():
        for workers in dict.fromkeys(cell.workers for cell in family):
            members = {
                CellSelector(cell.contender, cell.connections): cell
                for cell in reversed(family)
                if cell.workers in (workers, None)
            }
            found = {selector: members[selector] for selector in selectors if selector in members}
            if len(found) > len(best):
                best = found
    return best


def _fits(claim: Claim, cell: Cell) -> bool:
    """A design without a pool matches a claim about pools of any size."""
    return all(
        getattr(cell, name) == value or (name == "workers" and cell.workers is None)
        for name, value in claim.where.items()
    )


def check_cells(claim: Claim, cells: Sequence[Cell]) -> None:
    """StudyError unless the study has all cells of the claim in at least one scope."""
    found = [claim_cells(claim, cells, scope) for scope in SCOPES]
    selectors = claim.selectors()
    lacks = min(([of for of in selectors if of not in known] for known in found), key=len)
    if not lacks:
        return
    words = f"{lacks[0].design} at {AXES['connections'].count(lacks[0].connections)}"
    words += f" with the engine {claim.where['engine']}" if "engine" in claim.where else ""
    words += "".join(f", {name} {of}" for name, of in claim.where.items() if name != "engine")
    raise StudyError(
        f"the claim {claim.id} is about a cell that is not in the study: {words}; "
        "add it to [[cells]], or remove the claim"
    )
