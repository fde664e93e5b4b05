"""Who won: the standings at each step of the axis and overall, with verdicts.

The best are a set: the contenders not shown to need more server CPU per request than another
(statistics/comparisons_with_best.py), with a family-wise error rate of 5 % for the table. A set of
one has won, unless a rival may be as good: a contender that failed has no figure, one too slow for
the rate served a lower load, and a client-bound one is known only at the client's maximum rate.
That limit only makes requests cheaper, so a contender that needs more there is worse.

Figures are CPU time that was charged. A contender whose extra need busy time does not show, though
it would be seen there, is a rival too (statistics/leads.py): the winner's CPUs may only
have slept while the kernel worked for it, which is charged to nobody.
"""

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from statistics import fmean

from regatta.judge.interval import Interval
from regatta.judge.statistics.comparisons_with_best import Standing, standings
from regatta.judge.statistics.leads import Lead, Measures, unconfirmed_leads
from regatta.judge.statistics.sign_flips import BlockValues
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record.metrics import PRIMARY

LARGER = "larger than the noise"
NO_DIFFERENCE = "no difference seen"
RIVALS = "others may be as good"
TOO_FEW = "too few blocks"
NOT_COMPARED = "cannot be compared"
ONLY = "the only one measured"
ALONE = "alone"
NOT_MEASURED = "not measured"
NOT_EVERYWHERE = "not at every step"

FAILED = "failed"
TOO_SLOW = "too slow for the rate"
UNCONFIRMED = "busy time does not show that it needs more"

SEEN_TO = 11.0
"""A detectable ratio beyond this says nothing: there are too few units."""


@dataclass(frozen=True)
class Entry:
    """A contender at one step."""

    blocks: BlockValues
    """Its server CPU per request."""
    barred: str = ""
    """Why it cannot win; empty if it can."""
    busy: BlockValues = field(default_factory=dict)
    """How long its CPUs were busy per request; empty where that is not known."""

    @property
    def accounts(self) -> Measures:
        return self.blocks, self.busy


Entries = Mapping[str, Entry]


@dataclass(frozen=True)
class Verdict:
    at: int | None
    """The step of the axis; None: over all of them."""
    best: tuple[str, ...]
    """Contenders not shown to need more than another, the least first."""
    worse: tuple[str, ...]
    """Contenders shown to need more, the least first."""
    rivals: dict[str, str]
    """Contenders that may be as good but cannot win, and why: client-bound, unconfirmed, …"""
    front: str | None
    """The least of the best and the rivals."""
    runner_up: str | None
    """The next of the best and rivals at the same load, else the first of the worse."""
    lead: Interval | None
    """The runner-up's server CPU per request divided by the least of the others."""
    p_value: float | None
    blocks: int
    detectable: float | None
    """The smallest lead detectable at 80 % power; None: too few blocks."""
    outcome: str

    @property
    def starred(self) -> tuple[str, ...]:
        """Contenders with a star: none if a rival may be as good as a single best."""
        return self.best if self.outcome in (LARGER, NO_DIFFERENCE) else ()


@dataclass(frozen=True)
class Standings:
    by_step: list[Verdict]
    overall: Verdict
    standing_of: list[dict[str, Standing]] = field(default_factory=list)
    """The decisions behind the verdict of each step, as logarithms of ratios."""
    unconfirmed: list[Lead] = field(default_factory=list)
    """Leads of the best that busy time does not show; those over all steps only if there are
    several."""


@dataclass(frozen=True)
class _Contest:
    """One step, or all of them."""

    at: int | None
    entries: Entries
    steps: list[Entries]
    sizes: dict[str, float]
    """Mean logarithms of server CPU per request."""
    standing_of: dict[str, Standing]

    def leads(self, verdict: Verdict) -> dict[Lead, tuple[Measures, Measures]]:
        """Those of the best over all others, by both accounts."""
        return {
            (self.at, least, name): self.accounts(least, name)
            for least in verdict.best
            for name in verdict.worse
        }

    def accounts(self, *pair: str) -> tuple[Measures, Measures]:
        """Of these two, at the steps that both raced. Each step has the same weight."""
        shared = [
            step for step in self.steps if all(name in step and step[name].blocks for name in pair)
        ]
        scales = [_mean_cost(step) for step in shared]
        first, second = (
            (
                _means([step[name].blocks for step in shared], scales),
                _means([step[name].busy for step in shared], scales),
            )
            for name in pair
        )
        return first, second


def verdicts(entries: dict[int, Entries], units: Units = BLOCKS) -> Standings:
    """One verdict for each step of the axis, and the overall one.

    With one step the overall verdict is the same, without a further comparison.
    """
    logs = [_logs(step) for step in entries.values()]
    places: list[tuple[int | None, Entries, list[Entries], list[dict[str, BlockValues]]]] = [
        (at, step, [step], [own]) for (at, step), own in zip(entries.items(), logs, strict=True)
    ]
    if len(logs) > 1:
        places.append((None, _over_all(entries), list(entries.values()), logs))
    contests = [
        _Contest(at, of, steps, _log_means(contest), standing_of)
        for (at, of, steps, contest), standing_of in zip(
            places, standings([contest for *_, contest in places], units=units), strict=True
        )
    ]
    decided = [_verdict(one) for one in contests]
    leads: dict[Lead, tuple[Measures, Measures]] = {}
    for one, verdict in zip(contests, decided, strict=True):
        leads |= one.leads(verdict)
    unconfirmed = unconfirmed_leads(leads, units)
    if unconfirmed:
        decided = [
            _verdict(one, [more for at, _, more in unconfirmed if at == one.at]) for one in contests
        ]
    return Standings(
        decided[: len(logs)],
        decided[-1] if decided else _verdict(_Contest(None, {}, [], {}, {})),
        [one.standing_of for one in contests[: len(logs)]],
        unconfirmed,
    )


def _verdict(contest: _Contest, unconfirmed: Container[str] = ()) -> Verdict:
    """`unconfirmed`: those whose extra need busy time does not show."""
    entries, sizes, standing_of = contest.entries, contest.sizes, contest.standing_of
    ranked = sorted(sizes, key=lambda name: (sizes[name], name))
    known = [*ranked, *(name for name in standing_of if name not in sizes)]
    slow = {name for name, entry in entries.items() if entry.barred == TOO_SLOW}
    worse = tuple(
        name
        for name in known
        if name in standing_of and standing_of[name].worse
        if name not in slow and name not in unconfirmed
    )
    unknown = {
        name: TOO_FEW if name in ranked else NOT_MEASURED
        for name in entries
        if name not in standing_of and ranked != [name]
    }
    doubts = unknown | {name: UNCONFIRMED for name in entries if name in unconfirmed}
    rivals = {
        name: entry.barred or doubts[name]
        for name, entry in entries.items()
        if name not in worse and (entry.barred or name in doubts)
    }
    best = tuple(name for name in ranked if name not in worse and name not in rivals)
    open_to = [name for name in ranked if name not in worse]
    front = next((name for name in [*open_to, *known] if name not in worse), None)
    alike = [name for name in open_to[1:] if name not in unconfirmed]
    behind = [name for name in known if name in worse or name in unconfirmed]
    after = [name for name in [*alike, *behind] if name not in slow]
    runner_up = after[0] if after else None
    shown = standing_of.get(runner_up) if runner_up is not None else None
    detectable = None if shown is None else seen(math.exp(min(shown.detectable, 50.0)))
    return Verdict(
        at=contest.at,
        best=best,
        worse=worse,
        rivals=rivals,
        front=front,
        runner_up=runner_up,
        lead=None if shown is None else shown.through(lambda log: math.exp(min(log, 50.0))),
        p_value=None if shown is None else shown.p_value,
        blocks=0 if shown is None else shown.blocks,
        detectable=detectable,
        outcome=_outcome(entries, ranked, standing_of, best, rivals),
    )


def _outcome(
    entries: Entries,
    ranked: list[str],
    standing_of: dict[str, Standing],
    best: tuple[str, ...],
    rivals: dict[str, str],
) -> str:
    if not ranked:
        return NOT_MEASURED
    if len(entries) == 1:
        return ALONE
    if len(ranked) == 1:
        return ONLY
    if not standing_of:
        return TOO_FEW
    if len(best) > 1:
        return NO_DIFFERENCE
    return RIVALS if rivals or not best else LARGER


def seen(ratio: float) -> float | None:
    """A detectable ratio, or None if it is too large to say anything."""
    return ratio if ratio <= SEEN_TO else None


def _logs(step: Entries) -> dict[str, BlockValues]:
    return {
        name: {block: math.log(value) for block, value in entry.blocks.items()}
        for name, entry in step.items()
        if entry.blocks and min(entry.blocks.values()) > 0
    }


def _log_means(logs: list[dict[str, BlockValues]]) -> dict[str, float]:
    """Sums over all steps, for contenders with a figure at each: the order of the standings."""
    return {
        name: sum(sum(step[name].values()) / len(step[name]) for step in logs)
        for name in logs[0]
        if all(name in step for step in logs)
    }


def _over_all(entries: dict[int, Entries]) -> dict[str, Entry]:
    """A contender barred at one step is barred overall."""
    names = dict.fromkeys(name for step in entries.values() for name in step)
    return {name: Entry({}, _barred(name, entries)) for name in names}


def _mean_cost(step: Entries) -> float:
    return fmean(value for entry in step.values() for value in entry.blocks.values())


def _means(steps: list[BlockValues], scales: list[float]) -> BlockValues:
    """In units of the scales, of the blocks that all steps have."""
    common = sorted(set.intersection(*map(set, steps))) if steps else []
    return {
        block: fmean(step[block] / scale for step, scale in zip(steps, scales, strict=True))
        for block in common
    }


def _barred(name: str, entries: dict[int, Entries]) -> str:
    found = [step[name].barred if name in step else NOT_EVERYWHERE for step in entries.values()]
    missing = any(name in step and not step[name].blocks for step in entries.values())
    if TOO_SLOW in found:
        return TOO_SLOW
    return next((why for why in found if why), NOT_MEASURED if missing else "")


assert PRIMARY.better == "lower", "the winner needs the least"
