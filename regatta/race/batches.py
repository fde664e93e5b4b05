"""Which trials of a plan run side by side: those that are compared with one another."""

from collections.abc import Sequence

from regatta.ledger.cell import PROCESS
from regatta.ledger.planned import ALONE, PlannedTrial
from regatta.study import Study


def batches(left: Sequence[PlannedTrial], study: Study) -> list[list[PlannedTrial]]:
    """The trials that run side by side, in the order of the plan.

    With slices these are the trials of a block that are compared with one another; a
    whole process runs alone, and so does a trial of the kind `alone`.
    """
    found: dict[tuple[object, ...], list[PlannedTrial]] = {}
    for planned in left:
        cell = study.cells[planned.cell_id - 1]
        alone = study.slices == 1 or cell.scope == PROCESS or planned.kind == ALONE
        key = planned.cell_id if alone else cell.comparison_key()
        found.setdefault((planned.block, key), []).append(planned)
    return list(found.values())
