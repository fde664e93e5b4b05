"""Runs what a plan still lacks, batch after batch, until nothing is left or the race is exact."""

from __future__ import annotations

from dataclasses import replace

from regatta.batches import batches
from regatta.events import Note, Tell
from regatta.ledger import Ledger
from regatta.plan import TIMED, Planned
from regatta.repeats import Repeats
from regatta.rig import Rig
from regatta.study import PROCESS, Study
from regatta.trial import run_side_by_side
from regatta.watch import Watch


def run_trials(book: Ledger, rig: Rig, study: Study, tell: Tell, sitting: int) -> None:
    """Those of one sitting."""
    left = book.left()
    watch = Watch(study, len(book.plan()), len(left), tell)
    repeats = Repeats(*book.first_attempts())
    exact = False
    own = [planned for planned in left if planned.sitting == sitting]
    for batch in batches(own, study):
        kind, block = batch[0].kind, batch[0].block
        if kind == TIMED and exact:
            continue
        run_batch(book, rig, study, batch, watch, repeats)
        if kind == TIMED and not book.left_of(TIMED, block) and book.left_of(TIMED):
            why = exact_enough(book, study)
            if why is not None:
                watch.dropped(book.end_early(why))
                exact = True


def run_batch(  # noqa: PLR0913, PLR0917  (what one race has one of)
    book: Ledger,
    rig: Rig,
    study: Study,
    batch: list[Planned],
    watch: Watch,
    repeats: Repeats,
) -> None:
    """Runs trials side by side, and again while they are disturbed."""
    cells = [study.cells[planned.cell_id - 1] for planned in batch]
    for planned, cell in zip(batch, cells, strict=True):
        watch.begins(planned, cell)
    slices = 1 if cells[0].scope == PROCESS else study.slices
    attempt, again = book.attempts(batch), True
    while again:
        attempt += 1
        results = run_side_by_side(rig, cells, batch[0].kind, batch[0].block, slices)
        again = repeats.wanted(results, attempt)
        book.record(batch, [replace(result, attempt=attempt) for result in results], again)
        for planned, cell, result in zip(batch, cells, results, strict=True):
            watch.ended(planned, cell, result, attempt if again else None)
        if note := repeats.note():
            watch.tell(Note(note))


def exact_enough(book: Ledger, study: Study) -> str | None:
    """Why the race is as exact as its study asks for: then it needs no more timed trials."""
    from regatta.analysis.width import widest_lead  # noqa: PLC0415  (heavy: statistics)

    if study.width is None:
        return None
    blocks = book.blocks_done(TIMED)
    if blocks < study.blocks:
        return None
    widest = widest_lead(book.path)
    if widest is None or widest * 100 > study.width.percent:
        return None
    return (
        f"after {blocks} of at most {study.width.most_blocks} timed blocks: the widest interval of "
        f"a lead is {widest * 100:.1f} % wide, and {study.width.percent:g} % was asked for"
    )
