"""Heats: the trials of one block that are compared with one another.

They are repeated together or not at all. If one trial were repeated alone, it would be compared
with trials from another moment, and only its contender would get a second chance.
"""

from collections.abc import Collection, Mapping, Sequence

from regatta.ledger.cell import PROCESS
from regatta.ledger.planned import ALONE, PlannedTrial
from regatta.study import Study

BlockCell = tuple[int, int]
"""Block number and cell id."""


class Heats:
    """All heats of a race, and which of their trials were disturbed."""

    def __init__(
        self, plan: Sequence[PlannedTrial], study: Study, disturbed: Mapping[BlockCell, bool]
    ) -> None:
        """`disturbed`: whether each finished trial was disturbed, without those to be repeated."""
        self.study = study
        self.members: dict[tuple[object, ...], list[PlannedTrial]] = {}
        for planned in plan:
            self.members.setdefault(self.key(planned), []).append(planned)
        self.disturbed = {
            planned: disturbed[planned.block, planned.cell_id]
            for planned in plan
            if (planned.block, planned.cell_id) in disturbed
        }

    def key(self, planned: PlannedTrial) -> tuple[object, ...]:
        return (planned.block, self.study.cells[planned.cell_id - 1].comparison_key())

    def of(self, planned: PlannedTrial) -> list[PlannedTrial]:
        """The heat of a trial, including itself."""
        return self.members[self.key(planned)]

    def is_run(self, heat: Collection[PlannedTrial]) -> bool:
        """Whether all its trials have run."""
        return all(planned in self.disturbed for planned in heat)

    def is_disturbed(self, heat: Collection[PlannedTrial]) -> bool:
        return any(self.disturbed[planned] for planned in heat)

    def forget(self, heat: Collection[PlannedTrial]) -> None:
        """Drops the outcomes of a heat that will be repeated."""
        for planned in heat:
            del self.disturbed[planned]


def batches(left: Sequence[PlannedTrial], study: Study) -> list[list[PlannedTrial]]:
    """The trials that run side by side, in the order of the plan.

    With slices these are the trials of a block that are compared with one another. A whole process
    runs alone, and so does a trial of the kind `alone`.
    """
    found: dict[tuple[object, ...], list[PlannedTrial]] = {}
    for planned in left:
        cell = study.cells[planned.cell_id - 1]
        alone = study.slices == 1 or cell.scope == PROCESS or planned.kind == ALONE
        key = planned.cell_id if alone else cell.comparison_key()
        found.setdefault((planned.block, key), []).append(planned)
    return list(found.values())
