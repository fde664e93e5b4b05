"""How many blocks a verdict needs, and a note before the first trial if a study has fewer."""

import math

from regatta.judge.statistics.sign_flips import LEVEL
from regatta.record.cell import WINDOW
from regatta.record.study import Study
from regatta.record.study.claim_cells import claim_cells
from regatta.record.study.statement import ALSO_TIMED, is_timed

FEWEST_BLOCKS = math.ceil(math.log2(2 / LEVEL))
"""Of the 2^n sign flips of n blocks (sign_flips.py) two are extreme: none and all."""
FEWEST_SITTINGS = 3
"""Sittings are rotated, which works with any number; but with two, a difference would have to be 13
times its standard error."""
NAMED = 4


def too_few_note(study: Study) -> str:
    """Which verdicts have too few blocks or sittings; empty if none."""
    if study.sittings >= FEWEST_SITTINGS:
        return ""
    if study.sittings > 1:
        return (
            f"too few sittings for a verdict, which needs {FEWEST_SITTINGS}: there are "
            f"{study.sittings}"
        )
    lacking = []
    if study.blocks < FEWEST_BLOCKS and len({cell.contender for cell in study.cells}) > 1:
        lacking.append(f"the standings have {study.blocks}")
    blocks = _blocks_of_claims(study)
    for count in sorted(few for few in set(blocks.values()) if few < FEWEST_BLOCKS):
        names = [name for name, of_claim in blocks.items() if of_claim == count]
        lacking.append(f"{_listed(names)} {'have' if len(names) > 1 else 'has'} {count}")
    if not lacking:
        return ""
    return f"too few blocks for a verdict, which needs {FEWEST_BLOCKS}: {', '.join(lacking)}"


def quick_note(study: Study) -> str:
    """What a quick race cannot decide; empty for other races."""
    if not study.quick:
        return ""
    note = f"a first look: {study.blocks} timed and {study.counted_blocks} counted blocks"
    if study.sittings > 1:
        note += f" in each of {study.sittings} sittings"
        lost = len(study.claims) if study.sittings < FEWEST_SITTINGS else 0
    else:
        lost = sum(blocks < FEWEST_BLOCKS for blocks in _blocks_of_claims(study).values())
    if lost:
        note += f"; {lost} of {len(study.claims)} claims cannot be decided with so few"
    return note


def _blocks_of_claims(study: Study) -> dict[str, int]:
    """By claim, in the scope that decides it; over the window only one kind of trial counts."""
    found = {}
    for claim in study.claims:
        found[claim.id] = study.blocks + study.counted_blocks
        if set(claim.selectors()) <= claim_cells(claim, study.cells, WINDOW).keys():
            found[claim.id] = min(blocks_of(study, of.metric) for of in claim.statements)
    return found


def blocks_of(study: Study, metric: str) -> int:
    """Blocks over the window for a claim on this metric: counted ones, or timed ones."""
    counted = not is_timed(metric) and (metric not in ALSO_TIMED or study.counted_blocks > 0)
    return study.counted_blocks if counted else study.blocks


def _listed(names: list[str]) -> str:
    more = len(names) - NAMED
    listed = ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"the claim{'s' if len(names) > 1 else ''} {listed}"
