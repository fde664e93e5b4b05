"""Which trials of a plan run side by side: those that are compared with one another."""

from __future__ import annotations

from collections.abc import Sequence

from regatta.study import PROCESS, Study
from regatta.study.plan import ALONE, Planned


def batches(left: Sequence[Planned], study: Study) -> list[list[Planned]]:
    """The trials that stand side by side, in the order of the plan.

    Where loads come in slices they are those of a block that are compared with one another; a
    whole process is alone, from its start to its end, and so is who is to be raced alone.
    """
    found: dict[tuple[object, ...], list[Planned]] = {}
    for planned in left:
        cell = study.cells[planned.cell_id - 1]
        alone = study.slices == 1 or cell.scope == PROCESS or planned.kind == ALONE
        beside = planned.cell_id if alone else cell.alike()
        found.setdefault((planned.block, beside), []).append(planned)
    return list(found.values())
