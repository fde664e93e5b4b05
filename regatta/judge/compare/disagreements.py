"""Whether two races agree: the same winners, overlapping intervals, ranks and claims."""

from dataclasses import dataclass

from regatta.judge.estimates import Estimate
from regatta.judge.results import Analysis, CellResult, Group
from regatta.judge.standings import ALONE, LARGER, ONLY, Verdict
from regatta.record.metrics import PRIMARY, STANDINGS, side_of

# Whether the standings of two races agree: the same winners, and overlapping intervals. Two races
# of one study an hour apart, with nothing changed, should agree.

SAME = "the same"
WITHIN_NOISE = "not the same, but some are among the best of both races"
CONTRADICTION = "not the same, and none is among the best of both races"


@dataclass(frozen=True)
class Winners:
    """The winners of one table, or of one step of it, in both races."""

    where: str
    old: str
    new: str
    agreement: str
    won: bool
    """Whether both races have a single winner and no rival."""


@dataclass(frozen=True)
class Overlap:
    """How many intervals of one race overlap those of the other."""

    overlap: int
    of: int
    apart: list[str]
    """Labels of those that do not."""

    @property
    def share(self) -> float | None:
        return self.overlap / self.of if self.of else None


@dataclass(frozen=True)
class Agreement:
    overall: list[Winners]
    """One for each table that both races have."""
    steps: list[Winners]
    """One for each step of these tables."""
    cells: Overlap
    """Intervals of the primary metric."""
    figures: Overlap
    """Intervals in all columns of the standings."""

    @property
    def same_winner(self) -> bool:
        """In every table over all its steps; single steps are in `steps`.

        Where no race has a single winner, it is the set of the best that is the same.
        """
        return bool(self.overall) and all(each.agreement == SAME for each in self.overall)

    @property
    def has_winner(self) -> bool:
        return any(each.won for each in self.overall)


def agree(old: Analysis, new: Analysis) -> Agreement:
    tables = [(theirs, ours) for ours in new.groups if (theirs := same_table(ours, old))]
    pairs = _pairs(old, new)
    return Agreement(
        overall=[
            won
            for theirs, ours in tables
            if (won := _winners(ours.axis.over_all(), ours, theirs.overall, ours.overall))
        ],
        steps=[
            won
            for theirs, ours in tables
            for mine in ours.by_step
            for other in theirs.by_step
            if mine.at is not None
            and mine.at == other.at
            and (won := _winners(ours.axis.at(mine.at), ours, other, mine))
        ],
        cells=_overlap(pairs, (PRIMARY.name,)),
        figures=_overlap(pairs, tuple(metric.name for metric in STANDINGS)),
    )


def same_table(mine: Group, analysis: Analysis) -> Group | None:
    """The table with the same facts and axis; the placement may differ."""
    for group in analysis.groups:
        facts = {name: value for name, value in group.facts.items() if name != "placement"}
        wanted = {name: value for name, value in mine.facts.items() if name != "placement"}
        if facts == wanted and group.axis == mine.axis:
            return group
    return None


def _winners(where: str, group: Group, old: Verdict, new: Verdict) -> Winners | None:
    before, after = _ahead(old), _ahead(new)
    if not before or not after:
        return None
    if_different = WITHIN_NOISE if before & after else CONTRADICTION
    agreement = SAME if before == after else if_different
    title = f"{group.title}: {where}" if group.title else where
    won = old.outcome == new.outcome == LARGER
    then, now = (" and ".join(sorted(ahead)) for ahead in (before, after))
    return Winners(title, then, now, agreement, won)


def _ahead(verdict: Verdict) -> set[str]:
    """Contenders that may be as good as any other; empty where nothing was compared."""
    if verdict.front is None or verdict.outcome in (ALONE, ONLY):
        return set()
    return set(verdict.best) | set(verdict.rivals)


def _pairs(old: Analysis, new: Analysis) -> list[tuple[CellResult, CellResult]]:
    # A design without a pool is in several tables with the same trials; count them once.
    theirs = {one.cell.identity(): one for group in old.groups for one in group.cells}
    ours = {one.cell.identity(): one for group in new.groups for one in group.cells}
    return [(theirs[key], one) for key, one in ours.items() if key in theirs]


def _overlap(pairs: list[tuple[CellResult, CellResult]], names: tuple[str, ...]) -> Overlap:
    apart: list[str] = []
    count = 0
    for old, new in pairs:
        for metric in STANDINGS:
            if metric.name not in names:
                continue
            ends = [_ends(one.estimates[side_of(metric), metric.name]) for one in (old, new)]
            if ends[0] is None or ends[1] is None:
                continue
            count += 1
            if ends[0][0] > ends[1][1] or ends[1][0] > ends[0][1]:
                apart.append(f"{new.cell.label()}: {metric.label}")
    return Overlap(count - len(apart), count, apart)


def _ends(estimate: Estimate) -> tuple[float, float] | None:
    """An interval without an upper end extends to infinity."""
    if estimate.value is None or estimate.low is None:
        return None
    return estimate.low, float("inf") if estimate.high is None else estimate.high


# Ranks and claims on which two races disagree. For changes of the measurement, such as another
# placement, where all figures may change but the conclusions should not.

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
