"""A/A: the same server under two names. Whatever difference is seen is a false alarm.

Real blocks of one race are drawn, as many as a race usually has, and of each it is drawn which of
its two trials is called the first: then there is no difference by construction, and all that real
trials have in common, their drift, their long tails and their ties, is as it was.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from regatta.analysis.contrast import by_block, paired
from regatta.analysis.holm import holm
from regatta.analysis.metrics import BY_NAME, METRICS, SIDES, Metric, side_of
from regatta.calibrate.alarms import ALARMS, PEEK, REQUESTS
from regatta.calibrate.goals import Context, Goal, Part
from regatta.calibrate.sizes import (
    BLOCKS,
    COMPARISONS,
    ENOUGH_BLOCKS,
    FALSE_ALARMS_PERCENT,
    INJECTED_COMPARISONS,
    LEVEL,
    sizes,
)
from regatta.calibrate.studies import SAME, same_study
from regatta.calibrate.trials import Raced, read_raced
from regatta.ledger_read import Trial

SEED = 1990
WHOLE_LEVEL = 0.01
"""Not 5 %: chance alone would then miss this goal in one calibration of 20."""
MOSTLY = 0.25
"""A metric that is equal in more of its blocks than this cannot alarm as often as it may."""


@dataclass(frozen=True)
class Question:
    """One metric, to be compared so often in a race. Plain, for another process to answer."""

    ledger: Path
    metric: str
    inject: str | None
    comparisons: int


@dataclass(frozen=True)
class Answer:
    metric: str
    reason: str
    """Why there is no answer; else empty."""
    share: float = 0.0
    """Of the comparisons: the false alarms."""
    blocks: int = 0
    equal: float = 0.0
    """Of all blocks: those in which both trials read the same."""
    as_named: str = ""
    """All blocks at once, with the names that they had."""
    p_as_named: float = 1.0


def run(context: Context) -> list[Goal]:
    size = sizes(context.quick)
    place = context.place(PART.name)
    ledger = context.race(same_study(context, size), place)
    count = INJECTED_COMPARISONS if context.inject else COMPARISONS
    asked = [Question(ledger, metric.name, context.inject, count) for metric in METRICS]
    context.say(f"comparing {count:,} times in each metric")
    answers = [answer for answer in answer_all(asked) if is_told(answer)]
    goals = [goal_of(answer, count) for answer in answers]
    return goals if context.inject else [*goals, whole_race(answers)]


def is_told(answer: Answer) -> bool:
    """What this machine cannot count at all is no goal of its calibration."""
    return answer.reason != "not supported"


def answer_all(questions: list[Question]) -> list[Answer]:
    """On all CPUs: nothing is being measured now."""
    workers = min(len(os.sched_getaffinity(0)), len(questions))
    raced_of(questions[0].ledger)  # read once, and inherited by all
    # Ctrl-C is the parent's to hear: leaving the pool ends the others.
    with get_context("fork").Pool(workers, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        return list(pool.imap(answer, questions, chunksize=1))


@cache
def raced_of(ledger: Path) -> Raced:
    return read_raced(ledger)


def answer(question: Question) -> Answer:
    metric = BY_NAME[question.metric]
    raced = raced_of(question.ledger)
    blocks = raced.shared(metric.kind, SAME)
    by_name = getattr(raced, metric.kind)
    pairs = [tuple(by_name[name][block] for name in SAME) for block in blocks]
    side = side_of(metric)
    assert side in SIDES
    read = [by_block(metric, side, [pair[at] for pair in pairs]) for at in (0, 1)]
    for found in read:
        if isinstance(found, str):
            return Answer(metric.name, found)
    mine, theirs = (found for found in read if not isinstance(found, str))
    shared = [pair for pair in pairs if pair[0].block in mine and pair[0].block in theirs]
    if len(shared) < ENOUGH_BLOCKS:
        return Answer(metric.name, f"only {len(shared)} of {ENOUGH_BLOCKS} blocks")
    equal = sum(mine[pair[0].block] == theirs[pair[0].block] for pair in shared) / len(shared)
    if equal == 1:
        return Answer(metric.name, "the same in every trial", blocks=len(shared), equal=1.0)
    share = false_alarms(question, metric, shared)
    words, p_value = as_named(metric, [*zip(*shared, strict=True)])
    return Answer(metric.name, "", share, len(shared), equal, words, p_value)


def false_alarms(question: Question, metric: Metric, pairs: list[tuple[Trial, ...]]) -> float:
    """The share of comparisons of drawn blocks that say there is a difference."""
    alarm = ALARMS[question.inject]
    chance = np.random.default_rng([SEED, METRICS.index(metric)])
    alarms = 0
    for _ in range(question.comparisons):
        drawn = chance.choice(len(pairs), BLOCKS, replace=False)
        swapped = chance.integers(0, 2, BLOCKS)
        first = [pairs[at][swap] for at, swap in zip(drawn, swapped, strict=True)]
        second = [pairs[at][1 - swap] for at, swap in zip(drawn, swapped, strict=True)]
        alarms += alarm(metric, side_of(metric), first, second)
    return alarms / question.comparisons


def as_named(metric: Metric, cells: list[tuple[Trial, ...]]) -> tuple[str, float]:
    """The one comparison that nothing was drawn for: in words, and its p-value."""
    contrast = paired(metric, side_of(metric), list(cells[0]), list(cells[1]))
    if isinstance(contrast, str):
        return contrast, 1.0
    low, high = contrast.interval(LEVEL)
    words = f"{contrast.scale} {contrast.value:.4g} ({low:.4g} to {high:.4g})"
    return words, contrast.p_value()


def whole_race(answers: list[Answer]) -> Goal:
    """The race as it was, nothing drawn: a lab that favoured a name or a place would show here."""
    name, goal = (
        "the same server, all blocks as named",
        f"no metric differs (Holm, {WHOLE_LEVEL:.0%})",
    )
    # What is the same in every trial was compared, and does not differ.
    compared = [answer for answer in answers if answer.blocks]
    if not compared:
        reasons = "; ".join(sorted({answer.reason for answer in answers}))
        return Goal(name, goal, reasons or "nothing could be counted", met=None)
    decisions = holm([answer.p_as_named for answer in compared], WHOLE_LEVEL)
    differ = [
        BY_NAME[answer.metric].label
        for answer, decision in zip(compared, decisions, strict=True)
        if decision.rejected
    ]
    least = min(decision.adjusted_p for decision in decisions)
    return Goal(
        name,
        goal,
        f"{', '.join(differ)} differ" if differ else "none differs",
        met=not differ,
        detail=f"the least p-value of {len(compared)} metrics, corrected, is {least:.2g}",
        value=float(len(differ)),
    )


def goal_of(answer: Answer, comparisons: int) -> Goal:
    low, high = FALSE_ALARMS_PERCENT
    metric = BY_NAME[answer.metric]
    name = f"false alarms: {metric.label}"
    if answer.reason:
        return Goal(name, f"{low} to {high} %", answer.reason, met=None)
    percent = 100 * answer.share
    detail = (
        f"{comparisons:,} comparisons of {BLOCKS} of {answer.blocks} blocks; all of them, as they "
        f"were named: {answer.as_named}"
    )
    # Where both read the same there is nothing to alarm anybody: too few alarms are no fault.
    coarse = answer.equal > MOSTLY
    if coarse:
        detail += f"; both trials read the same in {answer.equal:.0%} of the blocks"
    return Goal(
        name,
        f"at most {high} %" if coarse else f"{low} to {high} %",
        f"{percent:.2f} %",
        met=percent <= high and (coarse or percent >= low),
        detail=detail,
        value=percent,
    )


PART = Part(
    name="false-alarms",
    says="the same server under two names, compared again and again",
    run=run,
    takes_s=240,
    injected=(REQUESTS, PEEK),
    reads_races=True,
)
