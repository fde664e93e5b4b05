"""Ranks and claims on which two races disagree.

For changes of the measurement, such as another placement, where all figures may change but the
conclusions should not.
"""

from dataclasses import dataclass

from regatta.analysis.agreement import same_table
from regatta.analysis.results import Analysis, Group
from regatta.ledger.metrics import PRIMARY, side_of

BEST, WORSE, OPEN = "among the best", "shown to need more", "may be as good"


@dataclass(frozen=True)
class Disagreement:
    """A design at one step of a table, or a claim, on which the two races disagree."""

    where: str
    what: str
    old: str
    new: str


def disagreements(old: Analysis, new: Analysis) -> list[Disagreement]:
    tables = [(theirs, ours) for ours in new.groups if (theirs := same_table(ours, old))]
    return [*(one for pair in tables for one in _ranks(*pair)), *_claims(old, new)]


def _ranks(old: Group, new: Group) -> list[Disagreement]:
    found: list[Disagreement] = []
    for step in (step for step in new.steps if step in old.steps):
        then, now = _standing_words(old, step), _standing_words(new, step)
        both = then.keys() & now.keys()
        before, after = (_ranked(group, step, both) for group in (old, new))
        where = f"{new.title}: {new.axis.at(step)}" if new.title else new.axis.at(step)
        for name in (name for name in after if name in before):
            ends = [
                f"{ranked.index(name) + 1}. of {len(ranked)}, {words[name]}"
                for ranked, words in ((before, then), (after, now))
            ]
            if ends[0] != ends[1]:
                found.append(Disagreement(where, name, *ends))
    return found


def _standing_words(group: Group, step: int) -> dict[str, str]:
    verdict = next(one for one in group.by_step if one.at == step)
    return {
        name: BEST if name in verdict.best else WORSE if name in verdict.worse else OPEN
        for name in (result.cell.contender for result in group.at(step))
    }


def _ranked(group: Group, step: int, names: set[str]) -> list[str]:
    """The contenders with a figure, by server CPU, the least first."""
    figures = {
        result.cell.contender: result.estimates[side_of(PRIMARY), PRIMARY.name].value
        for result in group.at(step)
    }
    known = {name: value for name, value in figures.items() if value is not None and name in names}
    return sorted(known, key=lambda name: (known[name], name))


def _claims(old: Analysis, new: Analysis) -> list[Disagreement]:
    then = {claim.id: claim.verdict for claim in old.claims}
    return [
        Disagreement("claim", claim.id, then[claim.id], claim.verdict)
        for claim in new.claims
        if claim.id in then and then[claim.id] != claim.verdict
    ]
