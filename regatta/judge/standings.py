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
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from regatta.judge.interval import Interval
from regatta.judge.statistics.comparisons_with_best import Standing, standings
from regatta.judge.statistics.leads import Accounts, Lead, unconfirmed_leads
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


class Raced(Protocol):
    """A contender at one step, with what it needed in each block."""

    @property
    def cpu(self) -> BlockValues:
        """Server CPU per request."""

    @property
    def busy(self) -> BlockValues:
        """How long its CPUs were busy per request; empty where that is not known."""

    @property
    def barred(self) -> str:
        """Why it cannot win; empty if it can."""


Step = Mapping[str, Raced]


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
    standing_of: Mapping[str, Standing]
    """The decisions behind it, as logarithms of ratios."""
    unconfirmed: tuple[tuple[str, str], ...] = ()
    """Leads that busy time does not show: the contender ahead, and the other."""

    @property
    def starred(self) -> tuple[str, ...]:
        """Contenders with a star: none if a rival may be as good as a single best."""
        return self.best if self.outcome in (LARGER, NO_DIFFERENCE) else ()


def verdicts(steps: Mapping[int, Step], units: Units = BLOCKS) -> tuple[list[Verdict], Verdict]:
    """One verdict for each step of the axis, and the overall one.

    With one step the overall verdict is the same, without a further comparison.
    """
    places: list[tuple[int | None, list[Step]]] = [(at, [step]) for at, step in steps.items()]
    if len(steps) != 1:
        places.append((None, list(steps.values())))
    logs = [[_logs(step) for step in of] for _, of in places]
    found = standings(logs, units)

    def decided(unconfirmed: Collection[Lead]) -> list[Verdict]:
        return [
            _verdict(
                at,
                _barred(of),
                _log_means(of_place),
                standing_of,
                tuple((less, more) for where, less, more in unconfirmed if where == at),
            )
            for (at, of), of_place, standing_of in zip(places, logs, found, strict=True)
        ]

    first = decided(())
    unconfirmed = unconfirmed_leads(
        {
            (at, least, name): _accounts(of, least, name)
            for (at, of), verdict in zip(places, first, strict=True)
            for least in verdict.best
            for name in verdict.worse
        },
        units,
    )
    final = decided(unconfirmed) if unconfirmed else first
    return final[: len(steps)], final[-1]


def _accounts(steps: list[Step], *pair: str) -> tuple[Accounts, Accounts]:
    """Of these two, at the steps that both raced. Each step has the same weight."""
    shared = [step for step in steps if all(name in step and step[name].cpu for name in pair)]
    scales = [
        fmean(value for raced in step.values() for value in raced.cpu.values()) for step in shared
    ]
    first, second = (
        (
            _means([step[name].cpu for step in shared], scales),
            _means([step[name].busy for step in shared], scales),
        )
        for name in pair
    )
    return first, second


def _means(steps: list[BlockValues], scales: list[float]) -> BlockValues:
    """In units of the scales, of the blocks that all steps have."""
    common = sorted(set.intersection(*map(set, steps))) if steps else []
    return {
        block: fmean(step[block] / scale for step, scale in zip(steps, scales, strict=True))
        for block in common
    }


def _verdict(
    at: int | None,
    barred: Mapping[str, str],
    sizes: Mapping[str, float],
    standing_of: Mapping[str, Standing],
    doubted: tuple[tuple[str, str], ...],
) -> Verdict:
    """`barred`: all contenders, as `_barred` has them; `sizes`: mean logarithms of server CPU per
    request; `doubted`: leads that busy time does not show."""
    unconfirmed = {more for _, more in doubted}
    ranked = sorted(sizes, key=lambda name: (sizes[name], name))
    known = [*ranked, *(name for name in standing_of if name not in sizes)]
    slow = {name for name, why in barred.items() if why == TOO_SLOW}
    worse = tuple(
        name
        for name in known
        if name in standing_of and standing_of[name].worse
        if name not in slow and name not in unconfirmed
    )
    rivals = {}
    for name, reason in barred.items():
        unknown = name not in standing_of and ranked != [name]
        why = TOO_FEW if name in ranked else NOT_MEASURED
        doubt = UNCONFIRMED if name in unconfirmed else why if unknown else ""
        if name not in worse and (reason or doubt):
            rivals[name] = reason or doubt
    best = tuple(name for name in ranked if name not in worse and name not in rivals)
    open_to = [name for name in ranked if name not in worse]
    front = next((name for name in [*open_to, *known] if name not in worse), None)
    alike = [name for name in open_to[1:] if name not in unconfirmed]
    behind = [name for name in known if name in worse or name in unconfirmed]
    runner_up = next((name for name in [*alike, *behind] if name not in slow), None)
    shown = None if runner_up is None else standing_of.get(runner_up)
    if not ranked:
        outcome = NOT_MEASURED
    elif len(barred) == 1:
        outcome = ALONE
    elif len(ranked) == 1:
        outcome = ONLY
    elif not standing_of:
        outcome = TOO_FEW
    elif len(best) > 1:
        outcome = NO_DIFFERENCE
    else:
        outcome = RIVALS if rivals or not best else LARGER
    return Verdict(
        at=at,
        best=best,
        worse=worse,
        rivals=rivals,
        front=front,
        runner_up=runner_up,
        lead=None if shown is None else shown.through(lambda log: math.exp(min(log, 50.0))),
        p_value=None if shown is None else shown.p_value,
        blocks=0 if shown is None else shown.blocks,
        detectable=None if shown is None else seen(math.exp(min(shown.detectable, 50.0))),
        outcome=outcome,
        standing_of=standing_of,
        unconfirmed=doubted,
    )


def seen(ratio: float) -> float | None:
    """A detectable ratio, or None if it is too large to say anything."""
    return ratio if ratio <= SEEN_TO else None


def _logs(step: Step) -> dict[str, BlockValues]:
    return {
        name: {block: math.log(value) for block, value in raced.cpu.items()}
        for name, raced in step.items()
        if raced.cpu and min(raced.cpu.values()) > 0
    }


def _log_means(logs: list[dict[str, BlockValues]]) -> dict[str, float]:
    """Sums over all steps, for contenders with a figure at each: the order of the standings."""
    return {
        name: sum(sum(step[name].values()) / len(step[name]) for step in logs)
        for name in (logs[0] if logs else ())
        if all(name in step for step in logs)
    }


def _barred(steps: list[Step]) -> dict[str, str]:
    """Why each contender cannot win over these steps, as it cannot at one; empty if it can."""
    found = {}
    for name in dict.fromkeys(name for step in steps for name in step):
        reasons = [step[name].barred if name in step else NOT_EVERYWHERE for step in steps]
        missing = any(name in step and not step[name].cpu for step in steps)
        why = next(filter(None, reasons), NOT_MEASURED if missing else "")
        found[name] = TOO_SLOW if TOO_SLOW in reasons else why
    return found


assert PRIMARY.better == "lower", "the winner needs the least"
