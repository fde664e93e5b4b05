"""Runs the missing trials of a plan, block by block, and repeats disturbed ones with their
rivals.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from time import monotonic

from regatta.measure.race.events import Progress, RaceNote, Tell
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.trial import run_side_by_side
from regatta.record.cell import PROCESS
from regatta.record.files import need_room
from regatta.record.records import ALONE, OK, TIMED, PlannedTrial
from regatta.record.study import Study
from regatta.record.write import Ledger

# A heat: the trials of one block that are compared with one another. They are repeated together or
# not at all. If one trial were repeated alone, it would be compared with trials from another
# moment, and only its contender would get a second chance.


def heats(plan: Sequence[PlannedTrial], study: Study) -> dict[PlannedTrial, list[PlannedTrial]]:
    """The heat of each trial, including itself."""
    found: dict[tuple[object, ...], list[PlannedTrial]] = {}
    for planned in plan:
        key = study.cells[planned.cell_id - 1].comparison_key()
        found.setdefault((planned.block, key), []).append(planned)
    return {planned: heat for heat in found.values() for planned in heat}


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


MAX_ATTEMPTS = 3
# So many heats show whether this machine is ever quiet.
FIRST_HEATS = 6
BUSY_SHARE = 0.5


class Repeats:
    """Decides for each heat (the trials that are compared) whether it is repeated.

    If most heats are disturbed, repeats would be too. Then none is repeated, so that a race on a
    busy machine takes its usual time; disturbed trials are still marked.
    """

    def __init__(self) -> None:
        self.heats = 0
        """Heats that have run at least once since the race began or was resumed."""
        self.disturbed = 0
        """Those of them that were disturbed at the first attempt."""
        self.is_noted = False

    def wanted(self, disturbed: bool, attempt: int) -> bool:
        """Whether a heat is repeated after this attempt."""
        if attempt == 1:
            self.heats += 1
            self.disturbed += disturbed
        return disturbed and attempt < MAX_ATTEMPTS and not self.pointless()

    def pointless(self) -> bool:
        return self.heats >= FIRST_HEATS and self.disturbed > self.heats * BUSY_SHARE

    def note(self) -> str | None:
        """A note for the user, once, if repeating is pointless."""
        if self.is_noted or not self.pointless():
            return None
        self.is_noted = True
        return (
            f"other programs disturbed {self.disturbed} of {self.heats} groups of compared trials: "
            "they are marked and not repeated; stop those programs, then race again"
        )


Enough = Callable[[Path, float], str | None]
"""Why the race in this ledger needs no more trials for a target width in percent; else None."""


MOST_SPOILT = 2
"""Blocks that are raced for others in which a trial failed: one whose server always fails must not
keep a race going."""


class Runner:
    def __init__(self, ledger: Ledger, setup: TrialSetup, study: Study, tell: Tell) -> None:
        self.ledger = ledger
        self.setup = setup
        self.study = study
        plan = ledger.plan()
        self.progress = Progress(study, len(plan), len(ledger.left()), tell)
        self.heats = heats(plan, study)
        done = ledger.disturbed()
        self.disturbed = {
            planned: done[planned.block, planned.cell_id]
            for planned in plan
            if (planned.block, planned.cell_id) in done
        }
        """Whether each finished trial was disturbed, without those to be repeated."""
        self.repeats = Repeats()
        self.chance = random.Random(setup.seed)

    def run_sitting(self, sitting: int, enough: Enough) -> None:
        """Runs the missing trials of one sitting."""
        exact = False
        of_sitting = [planned for planned in self.ledger.left() if planned.sitting == sitting]
        for block, planned in groupby(of_sitting, key=lambda planned: planned.block):
            left = list(planned)
            kind = left[0].kind
            if kind == TIMED and exact:
                continue
            self.run_block(left)
            ended = kind == TIMED and not self.ledger.left(TIMED, block)
            if ended and self.ledger.left(TIMED) and (why := self.ends(enough)) is not None:
                self.progress.left -= self.ledger.end_early(why)
                exact = True

    def run_block(self, left: Sequence[PlannedTrial]) -> None:
        """Runs the missing trials of a block, then repeats disturbed ones in a fresh order."""
        while left:
            again: list[PlannedTrial] = []
            for batch in batches(left, self.study):
                again += self.run_batch(batch)
            self.chance.shuffle(again)
            left = again

    def run_batch(self, batch: list[PlannedTrial]) -> list[PlannedTrial]:
        """Runs trials side by side; returns those of their heat that must be repeated."""
        cells = [self.study.cells[planned.cell_id - 1] for planned in batch]
        for planned, cell in zip(batch, cells, strict=True):
            self.progress.begins(planned, cell)
        slices = 1 if cells[0].scope == PROCESS else self.study.slices
        attempt = self.ledger.attempts(batch) + 1
        self.setup.placement.need()
        kind, block = batch[0].kind, batch[0].block
        ran = run_side_by_side(self.setup, cells, kind, block, slices)
        results = [
            replace(trial, **vars(planned), attempt=attempt)
            for planned, trial in zip(batch, ran, strict=True)
        ]
        if any(result.status != OK for result in results):
            need_room(self.ledger.path.parent)
        for planned, result in zip(batch, results, strict=True):
            self.disturbed[planned] = result.status == OK and result.disturbed is not None
        again = self.heat_again(batch[0], attempt)
        before = [planned for planned in again if planned not in batch]
        self.ledger.record(results, bool(again), before)
        if not again:
            self.progress.batch_ended(len(batch))
        for planned, cell, result in zip(batch, cells, results, strict=True):
            self.progress.ended(planned, cell, result, attempt if again else None)
        for planned in before:
            self.progress.undone(planned, self.study.cells[planned.cell_id - 1], attempt)
        if note := self.repeats.note():
            self.progress.tell(RaceNote(note))
        return again

    @property
    def fewest(self) -> int:
        """Blocks that are raced in any case."""
        return self.study.blocks + min(MOST_SPOILT, self.ledger.blocks_spoilt(TIMED))

    def has_time_for(self, trials: int) -> bool:
        """Whether so many more leave time for the fewest blocks."""
        if self.setup.ends_s is None:
            return True
        blocks = max(0, self.fewest - self.ledger.blocks_done(TIMED))
        left_s = (trials + blocks * len(self.study.cells)) * self.progress.per_trial_s
        return monotonic() + left_s < self.setup.ends_s

    def ends(self, enough: Enough) -> str | None:
        """Why the race is as exact as its study asks, or has no time for another block; else None.

        Few processes are judged once, when as many as the time allows have run.
        """
        study, width = self.study, self.study.width_percent
        blocks = self.ledger.blocks_done(TIMED)
        if width is None or blocks < self.fewest:
            return None
        why = None
        if not self.has_time_for(len(study.cells)):
            why = "no time is left for another"
        elif not study.few_blocks:
            why = enough(self.ledger.path, width)
        return why and f"after {blocks} of at most {study.most_blocks} timed blocks: {why}"

    def heat_again(self, planned: PlannedTrial, attempt: int) -> list[PlannedTrial]:
        """The heat of a trial, if all of it has run and must be repeated."""
        heat = self.heats[planned]
        if any(member not in self.disturbed for member in heat):
            return []
        disturbed = any(self.disturbed[member] for member in heat)
        if not (self.repeats.wanted(disturbed, attempt) and self.has_time_for(len(heat))):
            return []
        for member in heat:
            del self.disturbed[member]
        return list(heat)
