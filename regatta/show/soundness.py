"""How far the trials can be trusted: tables of sittings, clients, repeats, clocks, outliers and
warm-up. Where one of them changes what a comparison means, a note says so (notes.py)."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from regatta.judge.results import Analysis
from regatta.judge.soundness.repeated import Outlier
from regatta.judge.statistics.units import Between
from regatta.record.metrics import BY_NAME
from regatta.record.study.limits import START_SKEW_LIMIT_MS
from regatta.show.charts import warm_up_spec
from regatta.show.numbers import factor, percent, plural, ratio_cell, short
from regatta.show.view import FOLDED, Chart, Panel, Section, Table, table_of

NS_PER_US, NS_PER_MS = 1e3, 1e6
MOST = 25
"""Rows of the outlier table; more are not read."""
ALIKE = "not distinguishable"
Tables = Sequence[Table]
"""One, or none where it does not apply."""


def soundness_section(analysis: Analysis) -> Section:
    """What can be said of the trials as such."""
    return Section(
        "Soundness of the trials",
        text=tuple(filter(None, [sittings_sentence(analysis), outlier_sentence(analysis)])),
        tables=(
            *sittings_tables(analysis),
            *_clients_table(analysis),
            *repeated_table(analysis),
            *clock_table(analysis),
            *side_by_side_table(analysis),
            *outlier_table(analysis),
            *warm_up_table(analysis),
        ),
        charts=(_warm_up_chart(analysis),) if analysis.warm_ups else (),
        rank=FOLDED,
        name="soundness",
    )


ONE = (
    "Raced in one sitting: the results do not cover other builds, boots and hours "
    "(with `--sittings 5` they would)."
)
RESTS_ON = (
    "verdicts and intervals of standings, claims and accounts rest on one number a sitting; "
    "clocks, repeats and warm-up on blocks or trials"
)
SEARCHED_ONCE = (
    ". Held rates were searched once, before the first sitting, with the server as built: their "
    "intervals cover that hour only"
)


def sittings_sentence(analysis: Analysis) -> str:
    """How far the results cover other builds, boots and hours."""
    units = analysis.units
    if not units.sitting_of:
        return ONE
    count = len(set(units.sitting_of.values()))
    says = f"{plural(count, 'sitting')}: {RESTS_ON}" + SEARCHED_ONCE * bool(analysis.held)
    if count < units.fewest:
        return f"{says}, and a verdict needs {units.fewest} of them."
    several = len(analysis.groups) > 1
    parts = [
        f"{f'{group.title}: ' if several else ''}{share_words(group.between)} of the variance lies "
        "between them; another race of one sitting would find a ratio within "
        f"±{percent(group.between.reach)}"
        for group in analysis.groups
        if group.between is not None
    ]
    return ". ".join([says, *parts]) + "."


def sittings_line(analysis: Analysis) -> str:
    """The same for the screen, for the table with the largest spread; empty for one sitting."""
    if not analysis.units.sitting_of:
        return ""
    known = [group.between for group in analysis.groups if group.between is not None]
    count = plural(len(set(analysis.units.sitting_of.values())), "sitting")
    if not known:
        return f"{count}: too few to estimate how far they differ"
    most = max(known, key=lambda one: one.reach)
    another = f"another race ±{percent(most.reach)}"
    return f"{count}, {share_words(most)} of variance between them: {another}"


def share_words(between: Between) -> str:
    """`12 % (0 to 61 %)`."""
    share = between.share.through(lambda share: 100 * share)
    return f"{share.value:.0f} % ({share.low:.0f} to {share.high:.0f} %)"


def sittings_tables(analysis: Analysis) -> Tables:
    """How far sittings differ, and when each was; empty for a race in one sitting."""
    if not analysis.units.sitting_of:
        return ()
    found = [(group.title, group.between) for group in analysis.groups if group.between is not None]
    return (
        *table_of(
            "How far sittings differ",
            "The share of the variance of one block's ratio that lies between sittings, averaged "
            "over all pairs of contenders; more blocks do not reduce it. Another race: with 95 % "
            "probability a ratio from one other sitting of as many blocks is within this of the "
            "ratio here; for all ratios of a table at once the probability is lower.",
            found,
            {
                "cells": lambda one: one[0] or "all contenders",
                "sittings": lambda one: f"{one[1].sittings}",
                "variance between them": lambda one: share_words(one[1]),
                "another race": lambda one: f"±{percent(one[1].reach)}",
            },
        ),
        *table_of(
            "When each sitting ran, and with what",
            "A sitting that was stopped and resumed has several rows. Functions: the seed of their "
            "link order in our server. Environment: bytes of padding in every server's "
            "environment.",
            analysis.sittings,
            {
                "sitting": lambda one: f"{one.number}",
                "begun": lambda one: (
                    f"{datetime.fromtimestamp(one.started_at, UTC):%Y-%m-%d %H:%M} UTC"
                ),
                "boot": lambda one: (one.boot_id or "unknown").partition("-")[0],
                "functions": lambda one: (
                    "as built" if one.link_order is None else f"order {one.link_order}"
                ),
                "environment": lambda one: f"{one.environment_bytes:,} bytes",
                "CPU": lambda one: one.cpu_model,
                "kernel": lambda one: one.kernel,
            },
        ),
    )


def _clients_table(analysis: Analysis) -> Tables:
    """Empty where one client made every load."""
    found = analysis.clients
    return table_of(
        "Clients",
        "Several clients shared each load; percentiles pool all their requests. They started "
        f"within {short(found.skew_p99_ns / NS_PER_MS)} ms of each other in 99 % of trials, by "
        f"their own clocks; a trial with more than {START_SKEW_LIMIT_MS:g} ms is repeated. Each "
        "client runs its own burst rounds.",
        list(enumerate(found.each, 1)),
        {
            "client": lambda one: f"{one[0]}, {one[1].host}" if one[1].host else f"{one[0]}",
            "connections": lambda one: f"{one[1].connections:,}",
            "CPU used": lambda one: percent(one[1].cpu_share),
            "peak": lambda one: percent(one[1].most_cpu_share),
            "client-bound": lambda one: f"{one[1].bound} of {one[1].trials}",
            "worst p99 lateness": lambda one: (
                "" if one[1].late_p99_ns is None else f"{short(one[1].late_p99_ns / NS_PER_MS)} ms"
            ),
            "start delay": lambda one: f"{short(one[1].began_late_ns / NS_PER_US)} µs",
            "clock error": lambda one: (
                f"{short(one[1].clock_bound_ns / NS_PER_US)} µs"
                if one[1].clock_bound_ns
                else "the same clock"
            ),
        },
    )


def repeated_table(analysis: Analysis) -> Tables:
    """A row a contender; empty where no trial was run again."""
    found = analysis.repeated
    unequal = "No design was disturbed more often than by chance."
    if found.is_unequal:
        beyond = f"was disturbed more often than by chance (p = {found.p_value:.2g})"
        unequal = f"{found.furthest} {beyond}."
    return table_of(
        "Repeated trials",
        "A disturbed trial is repeated together with the trials of its block that it is compared "
        "with; only the last attempt counts. By chance: the expected number of disturbed first "
        f"attempts if disturbances hit contenders at random within blocks. {unequal}",
        found.hits,
        {
            "design": lambda hit: hit.contender,
            "trials": lambda hit: f"{hit.trials}",
            "disturbed at first": lambda hit: f"{hit.disturbed}",
            "by chance": lambda hit: f"{hit.by_chance:.1f}",
            "repeated": lambda hit: f"{hit.again}",
        },
    )


def clock_table(analysis: Analysis) -> Tables:
    """A row a contender; empty where no canary ran."""
    return table_of(
        "Clock speed",
        "A fixed number of dependent instructions runs nine times on the server's CPUs before each "
        "window. Their shortest time shows the clock speed, here relative to the contenders "
        "compared in the same block; a median far above it means interrupts. Not detected: a clock "
        "that changes while the server runs, and CPU time that the host takes inside a window.",
        analysis.clocks,
        {
            "design": lambda ran: ran.contender,
            "trials": lambda ran: f"{ran.trials}",
            "clock": lambda ran: ratio_cell(ran.clock),
            "shortest time": lambda ran: f"{ran.low_ns / 1000:.1f} µs",
            "median ÷ shortest": lambda ran: factor(ran.median_ns / ran.low_ns),
            "": lambda ran: "differs" if ran.differs else ALIKE,
        },
    )


def side_by_side_table(analysis: Analysis) -> Tables:
    """A row a contender; empty where none was raced alone."""
    return table_of(
        "Alone and side by side",
        "Server CPU per request of a server that runs alone ÷ side by side with the others, in the "
        "blocks just before and after, over all steps. An effect common to all changes no "
        "comparison; the last columns show the rest.",
        analysis.side_by_side,
        {
            "design": lambda one: one.contender,
            "blocks alone": lambda one: f"{one.blocks}",
            "alone ÷ side by side": lambda one: ratio_cell(one.ratio),
            "÷ mean of all": lambda one: factor(one.beside),
            "comparison": lambda one: "changed" if one.differs else ALIKE,
        },
    )


def outlier_sentence(analysis: Analysis) -> str:
    """Empty without outliers."""
    trials = {(one.cell.id, one.block) for one in analysis.outliers}
    if not trials:
        return ""
    names = sorted({one.cell.contender for one in analysis.outliers})
    return (
        f"{plural(len(trials), 'outlier')} in {plural(analysis.trials, 'trial')} "
        f"({', '.join(names)}), kept in every average."
    )


def outlier_table(analysis: Analysis) -> Tables:
    """A row a metric and trial, the most extreme first; the JSON has all of them."""
    shown = sorted(analysis.outliers, key=_how_far, reverse=True)[:MOST]
    more = len(analysis.outliers) - len(shown)
    rest = f" {more:,} less extreme ones are in the JSON (`regatta report --json`)." if more else ""

    def figure(one: Outlier, value: float) -> str:
        return f"{short(value)} {BY_NAME[one.metric].unit}".strip()

    return table_of(
        "Outliers",
        "Trials beyond Tukey's outer fences of their cell, three times its interquartile range "
        f"away; rings in the charts. Outliers are kept, so their intervals are wide.{rest}",
        shown,
        {
            "cell": lambda one: one.cell.label(),
            "block": lambda one: f"{one.block}",
            "metric": lambda one: BY_NAME[one.metric].label,
            "this trial": lambda one: figure(one, one.value),
            "median of all": lambda one: figure(one, one.median),
            "": lambda one: f"{factor(one.value / one.median)} times" if one.median > 0 else "",
        },
    )


def _how_far(one: Outlier) -> float:
    """As a factor in either direction; a value without one sorts last."""
    if min(one.value, one.median) <= 0:
        return 0.0
    return abs(math.log(one.value / one.median))


def warm_up_table(analysis: Analysis) -> Tables:
    """A row a contender and work, with what its first process needed."""
    return table_of(
        "Warm-up",
        "Each server's first process was watched from its first request, as fast as it answers, "
        "until its CPU per request and p50 were level; later processes get 1.5 times as many "
        "requests and are watched again. A server whose cost still moves in the window, or that is "
        "not steady in over 1 of 10 processes, cannot win.",
        analysis.warm_ups,
        {
            "design": lambda one: one.contender,
            "work": lambda one: one.work,
            "first process": lambda one: one.kind,
            "warm after, requests": lambda one: f"{one.requests:,}",
            "under load": lambda one: f"{one.seconds:.1f} s",
            "processes not steady": lambda one: f"{one.unsteady} of {one.watched}",
            "window ÷ end of warm-up": lambda one: ratio_cell(one.moves) if one.moves else "",
            "measured": lambda one: one.why_not or "warm",
        },
    )


def _warm_up_chart(analysis: Analysis) -> Chart:
    title = "Server CPU per request of each server's first process"
    says = "In slices of its load, from its first request on."
    return Chart("warm-up", title, says, (Panel("", "µs", warm_up_spec(analysis)),))
