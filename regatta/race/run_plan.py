"""Runs the missing trials of a plan, block by block, until none is left or the race is exact."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from time import monotonic

from regatta.ledger.cell import PROCESS
from regatta.ledger.planned import TIMED, PlannedTrial
from regatta.ledger.result import OK
from regatta.ledger.write import Ledger
from regatta.race.events import Note, Tell
from regatta.race.folder import need_room
from regatta.race.heats import Heats, batches
from regatta.race.progress import Progress
from regatta.race.repeats import Repeats
from regatta.study import Study
from regatta.trial.setup import TrialSetup
from regatta.trial.trial import run_side_by_side

Enough = Callable[[Path, float], str | None]
"""Why the race in this ledger needs no more trials for a target width in percent; else None."""


MOST_SPOILT = 2
"""Blocks that are raced for others in which a trial failed: one whose server always fails must not
keep a race going."""


def run_trials(  # noqa: PLR0913, PLR0917  (all that describes a sitting)
    ledger: Ledger,
    setup: TrialSetup,
    study: Study,
    tell: Tell,
    sitting: int,
    enough: Enough,
) -> None:
    """Runs the missing trials of one sitting."""
    runner = Runner(ledger, setup, study, tell)
    exact = False
    of_sitting = [planned for planned in ledger.left() if planned.sitting == sitting]
    for block, planned in groupby(of_sitting, key=lambda planned: planned.block):
        left = list(planned)
        kind = left[0].kind
        if kind == TIMED and exact:
            continue
        runner.run_block(left)
        if kind == TIMED and not ledger.left_of(TIMED, block) and ledger.left_of(TIMED):
            why = runner.ends(enough)
            if why is not None:
                runner.progress.dropped(ledger.end_early(why))
                exact = True


class Runner:
    """Runs trials, and repeats disturbed ones."""

    def __init__(self, ledger: Ledger, setup: TrialSetup, study: Study, tell: Tell) -> None:
        self.ledger = ledger
        self.setup = setup
        self.study = study
        plan = ledger.plan()
        self.progress = Progress(study, len(plan), len(ledger.left()), tell)
        self.heats = Heats(plan, study, ledger.disturbed())
        first = Heats(plan, study, ledger.disturbed(attempt=1))
        run = [heat for heat in first.members.values() if first.is_run(heat)]
        self.repeats = Repeats(len(run), sum(map(first.is_disturbed, run)))
        self.chance = random.Random(setup.seed)

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
        results = [
            replace(result, attempt=attempt)
            for result in run_side_by_side(self.setup, cells, batch[0].kind, batch[0].block, slices)
        ]
        if any(result.status != OK for result in results):
            need_room(self.ledger.path.parent)
        for planned, result in zip(batch, results, strict=True):
            self.heats.disturbed[planned] = result.status == OK and result.disturbed is not None
        again = self.heat_again(batch[0], attempt)
        before = [planned for planned in again if planned not in batch]
        self.ledger.record(batch, results, bool(again), before)
        if not again:
            self.progress.batch_ended(len(batch))
        for planned, cell, result in zip(batch, cells, results, strict=True):
            self.progress.ended(planned, cell, result, attempt if again else None)
        for planned in before:
            self.progress.undone(planned, self.study.cells[planned.cell_id - 1], attempt)
        if note := self.repeats.note():
            self.progress.tell(Note(note))
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
        heat = self.heats.of(planned)
        if not self.heats.is_run(heat):
            return []
        if not self.repeats.wanted(self.heats.is_disturbed(heat), attempt):
            return []
        if not self.has_time_for(len(heat)):
            return []
        self.heats.forget(heat)
        return list(heat)
