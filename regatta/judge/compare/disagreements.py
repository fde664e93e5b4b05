"""On what two races disagree: the winners of their tables, ranks and claims.

For changes of the measurement, such as another placement, where all figures may change but the
conclusions should not. Two races of one study an hour apart, with nothing changed, should agree.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from regatta.judge.results import Analysis, Group
from regatta.judge.standings import ALONE, LARGER, ONLY, Verdict
from regatta.record.metrics import PRIMARY, side_of

SAME = "the same"
WITHIN_NOISE = "not the same, but some are among the best of both races"
CONTRADICTION = "not the same, and none is among the best of both races"
BEST, WORSE, OPEN = "among the best", "shown to need more", "may be as good"


@dataclass(frozen=True)
class Winners:
    """The winners of one table in both races; the sets of the best if there is no winner."""

    where: str
    old: str
    new: str
    agreement: str
    won: bool
    """Whether both races have a single winner and no rival."""


@dataclass(frozen=True)
class Disagreement:
    """A design at one step of a table, or a claim, on which the two races disagree."""

    where: str
    what: str
    old: str
    new: str


def winners(old: Analysis, new: Analysis) -> list[Winners]:
    """One for each table that both races have and compare something in."""
    return [won for tables in _common(old, new) if (won := _winners(*tables)) is not None]


def disagreements(old: Analysis, new: Analysis) -> list[Disagreement]:
    return [*(one for pair in _common(old, new) for one in _ranks(*pair)), *_claims(old, new)]


def _common(old: Analysis, new: Analysis) -> list[tuple[Group, Group]]:
    """The tables with the same facts and axis; the placement may differ."""
    return [
        (theirs, ours) for ours in new.groups for theirs in old.groups if _key(theirs) == _key(ours)
    ]


def _key(group: Group) -> tuple[object, ...]:
    return group.axis, {name: of for name, of in group.facts.items() if name != "placement"}


def _where(group: Group, words: str) -> str:
    return f"{group.title}: {words}" if group.title else words


def _winners(old: Group, new: Group) -> Winners | None:
    before, after = _ahead(old.overall), _ahead(new.overall)
    if not before or not after:
        return None
    if_different = WITHIN_NOISE if before & after else CONTRADICTION
    return Winners(
        where=_where(new, new.axis.over_all()),
        old=" and ".join(sorted(before)),
        new=" and ".join(sorted(after)),
        agreement=SAME if before == after else if_different,
        won=old.overall.outcome == new.overall.outcome == LARGER,
    )


def _ahead(verdict: Verdict) -> set[str]:
    """Contenders that may be as good as any other; empty where nothing was compared."""
    if verdict.front is None or verdict.outcome in (ALONE, ONLY):
        return set()
    return set(verdict.best) | set(verdict.rivals)


def _ranks(old: Group, new: Group) -> Iterator[Disagreement]:
    for step in (step for step in new.steps if step in old.steps):
        both = set.intersection(*({one.cell.contender for one in of.at(step)} for of in (old, new)))
        then, now = (_ranked(of, step, both) for of in (old, new))
        for name in now:
            if name in then and then[name] != now[name]:
                yield Disagreement(_where(new, new.axis.at(step)), name, then[name], now[name])


def _ranked(group: Group, step: int, names: set[str]) -> dict[str, str]:
    """The rank by server CPU per request of each of these that has a figure, and what is shown of
    it; the least first."""
    verdict = next(one for one in group.by_step if one.at == step)
    figures = {
        result.cell.contender: result.estimates[side_of(PRIMARY), PRIMARY.name].value
        for result in group.at(step)
        if result.cell.contender in names
    }
    known = sorted((value, name) for name, value in figures.items() if value is not None)
    shown = dict.fromkeys(verdict.best, BEST) | dict.fromkeys(verdict.worse, WORSE)
    return {
        name: f"{rank}. of {len(known)}, {shown.get(name, OPEN)}"
        for rank, (_, name) in enumerate(known, start=1)
    }


def _claims(old: Analysis, new: Analysis) -> Iterator[Disagreement]:
    then = {claim.id: claim.verdict for claim in old.claims}
    for claim in new.claims:
        if claim.id in then and then[claim.id] != claim.verdict:
            yield Disagreement("claim", claim.id, then[claim.id], claim.verdict)
