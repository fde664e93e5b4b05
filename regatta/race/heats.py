"""Heats: the trials of one block that are compared with one another.

They are repeated together or not at all. A single repeated trial would be compared with rivals of
another moment, and would alone have had a second chance.
"""

from collections.abc import Collection, Mapping, Sequence

from regatta.ledger.planned import PlannedTrial
from regatta.study import Study

BlockCell = tuple[int, int]
"""Block and cell."""


class Heats:
    """All heats of a race, with the outcomes of their current trials."""

    def __init__(
        self, plan: Sequence[PlannedTrial], study: Study, disturbed: Mapping[BlockCell, bool]
    ) -> None:
        """`disturbed`: whether each finished trial that is not to be repeated was so."""
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
        """Its heat, itself included."""
        return self.members[self.key(planned)]

    def is_run(self, heat: Collection[PlannedTrial]) -> bool:
        """Whether all of it has run."""
        return all(planned in self.disturbed for planned in heat)

    def is_disturbed(self, heat: Collection[PlannedTrial]) -> bool:
        return any(self.disturbed[planned] for planned in heat)

    def forget(self, heat: Collection[PlannedTrial]) -> None:
        """Marks it for repetition."""
        for planned in heat:
            del self.disturbed[planned]
