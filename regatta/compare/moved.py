"""What moved between two races: places at a step, and verdicts on claims.

For a change of the measuring and not of the server, such as another placement: the figures may all
move, the conclusions need not.
"""

from __future__ import annotations

from dataclasses import dataclass

from regatta.analysis.agreement import same_table
from regatta.analysis.results import Analysis, Group
from regatta.ledger.metrics import PRIMARY, side_of

BEST, WORSE, OPEN = "among the best", "shown to need more", "may be as good"


@dataclass(frozen=True)
class Moved:
    """A design at one step of a table, or a claim, on which the two races disagree."""

    where: str
    what: str
    old: str
    new: str


def moved(old: Analysis, new: Analysis) -> list[Moved]:
    tables = [(theirs, ours) for ours in new.groups if (theirs := same_table(ours, old))]
    return [*(one for pair in tables for one in _places(*pair)), *_claims(old, new)]


def _places(old: Group, new: Group) -> list[Moved]:
    found: list[Moved] = []
    for step in (step for step in new.steps if step in old.steps):
        then, now = _said(old, step), _said(new, step)
        both = then.keys() & now.keys()
        before, after = (_ranked(group, step, both) for group in (old, new))
        where = f"{new.title}: {new.axis.at(step)}" if new.title else new.axis.at(step)
        for name in (name for name in after if name in before):
            ends = [
                f"{ranked.index(name) + 1}. of {len(ranked)}, {said[name]}"
                for ranked, said in ((before, then), (after, now))
            ]
            if ends[0] != ends[1]:
                found.append(Moved(where, name, *ends))
    return found


def _said(group: Group, step: int) -> dict[str, str]:
    verdict = next(one for one in group.by_step if one.at == step)
    return {
        name: BEST if name in verdict.best else WORSE if name in verdict.worse else OPEN
        for name in (result.cell.contender for result in group.at(step))
    }


def _ranked(group: Group, step: int, names: set[str]) -> list[str]:
    """Ranked by server CPU, the least first, without those that have no figure."""
    figures = {
        result.cell.contender: result.estimates[side_of(PRIMARY), PRIMARY.name].value
        for result in group.at(step)
    }
    known = {name: value for name, value in figures.items() if value is not None and name in names}
    return sorted(known, key=lambda name: (known[name], name))


def _claims(old: Analysis, new: Analysis) -> list[Moved]:
    then = {claim.id: claim.verdict for claim in old.claims}
    return [
        Moved("claim", claim.id, then[claim.id], claim.verdict)
        for claim in new.claims
        if claim.id in then and then[claim.id] != claim.verdict
    ]
