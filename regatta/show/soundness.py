"""How far the trials can be trusted: tables of sittings, clients, repeats, clocks, outliers and
warm-up, and a sentence where one of them changes what a comparison means."""

import math
from datetime import UTC, datetime

from regatta.judge.results import Analysis, Group
from regatta.judge.soundness.clients import ClientFound
from regatta.judge.soundness.repeated import ChangedVerdict, Outlier
from regatta.judge.soundness.warmup import ContenderWarmUp
from regatta.judge.statistics.units import Between
from regatta.record.metrics import BY_NAME
from regatta.record.records import Sitting
from regatta.record.study.limits import START_SKEW_LIMIT_MS
from regatta.show.charts import warm_up_spec
from regatta.show.numbers import between, percent, plural, short, times
from regatta.show.verdicts import listed, step_words
from regatta.show.view import FOLDED, Chart, Panel, Section, Table, plain_table

NS_PER_US, NS_PER_MS = 1e3, 1e6


def clients_table(analysis: Analysis) -> Table | None:
    """None where one client made every load."""
    found = analysis.clients
    if not found.each:
        return None
    says = (
        "Several clients shared each load; percentiles pool all their requests. They started "
        f"within {short(found.skew_p99_ns / NS_PER_MS)} ms of each other in 99 % of trials, by "
        f"their own clocks; a trial with more than {START_SKEW_LIMIT_MS:g} ms is repeated. Each "
        "client runs its own burst rounds."
    )
    header = [
        *("client", "connections", "CPU used", "peak", "client-bound", "worst p99 lateness"),
        *("start delay", "clock error"),
    ]
    return plain_table(
        "Clients", says, header, [_client_row(at, one) for at, one in enumerate(found.each, 1)]
    )


def _client_row(at: int, one: ClientFound) -> list[str]:
    late = one.late_p99_ns
    return [
        f"{at}, {one.host}" if one.host else f"{at}",
        f"{one.connections:,}",
        percent(one.cpu_share),
        percent(one.most_cpu_share),
        f"{one.bound} of {one.trials}",
        "" if late is None else f"{short(late / NS_PER_MS)} ms",
        f"{short(one.began_late_ns / NS_PER_US)} µs",
        f"{short(one.clock_bound_ns / NS_PER_US)} µs" if one.clock_bound_ns else "the same clock",
    ]


MOST = 25
"""Rows of the outlier table; more are not read."""
OUTLIERS = "Outliers"
OUTLIERS_SAY = (
    "Trials beyond Tukey's outer fences of their cell, three times its interquartile range away; "
    "rings in the charts. Outliers are kept, so their intervals are wide."
)
WARM_SAYS = (
    "Each server's first process was watched from its first request, as fast as it answers, until "
    "its CPU per request and p50 were level; later processes get 1.5 times as many requests and "
    "are watched again. A server whose cost still moves in the window, or that is not steady in "
    "over 1 of 10 processes, cannot win."
)


def soundness_tables(analysis: Analysis) -> list[Table]:
    """The tables that apply to this race."""
    found = [
        *sittings_tables(analysis),
        clients_table(analysis),
        repeated_table(analysis),
        clock_table(analysis),
        side_by_side_table(analysis),
        outlier_table(analysis),
        warm_up_table(analysis),
    ]
    return [table for table in found if table is not None]


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


def outlier_table(analysis: Analysis) -> Table | None:
    """A row a metric and trial, the most extreme first; the JSON has all of them."""
    if not analysis.outliers:
        return None
    rows = []
    for one in sorted(analysis.outliers, key=_how_far, reverse=True)[:MOST]:
        metric = BY_NAME[one.metric]
        unit = f" {metric.unit}" if metric.unit else ""
        ratio = f"{times(one.value / one.median)} times" if one.median > 0 else ""
        figures = [f"{short(one.value)}{unit}", f"{short(one.median)}{unit}", ratio]
        rows.append([one.cell.label(), f"{one.block}", metric.label, *figures])
    header = ["cell", "block", "metric", "this trial", "median of all", ""]
    more = len(analysis.outliers) - len(rows)
    rest = f" {more:,} less extreme ones are in the JSON (`regatta report --json`)." if more else ""
    return plain_table(OUTLIERS, f"{OUTLIERS_SAY}{rest}", header, rows)


def _how_far(one: Outlier) -> float:
    """As a factor in either direction; a value without one sorts last."""
    if min(one.value, one.median) <= 0:
        return 0.0
    return abs(math.log(one.value / one.median))


def warm_up_table(analysis: Analysis) -> Table | None:
    """A row a contender and work, with what its first process needed."""
    if not analysis.warm_ups:
        return None
    rows = [
        [
            one.contender,
            one.work,
            one.kind,
            f"{one.requests:,}",
            f"{one.seconds:.1f} s",
            f"{one.unsteady} of {one.watched}",
            moves_words(one),
            one.why_not or "warm",
        ]
        for one in analysis.warm_ups
    ]
    header = [
        "design",
        "work",
        "first process",
        "warm after, requests",
        "under load",
        "processes not steady",
        "window ÷ end of warm-up",
        "measured",
    ]
    return plain_table("Warm-up", WARM_SAYS, header, rows)


def moves_words(one: ContenderWarmUp) -> str:
    if one.moves is None or one.moves_low is None or one.moves_high is None:
        return ""
    return f"{times(one.moves)}\n{between(one.moves, one.moves_low, one.moves_high)}"


ONE = (
    "Raced in one sitting: the results do not cover other builds, boots and hours "
    "(with `--sittings 5` they would)."
)
BETWEEN = "How far sittings differ"
BETWEEN_SAYS = (
    "The share of the variance of one block's ratio that lies between sittings, averaged over all "
    "pairs of contenders; more blocks do not reduce it. Another race: with 95 % probability a "
    "ratio from one other sitting of as many blocks is within this of the ratio here; for all "
    "ratios of a table at once the probability is lower."
)
WHEN = "When each sitting ran, and with what"
WHEN_SAYS = (
    "A sitting that was stopped and resumed has several rows. Functions: the seed of their link "
    "order in our server. Environment: bytes of padding in every server's environment."
)
AS_BUILT = "as built"
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
    unit = f"{plural(count, 'sitting')}: {RESTS_ON}"
    unit += SEARCHED_ONCE if analysis.held else ""
    if count < units.fewest:
        return f"{unit}, and a verdict needs {units.fewest} of them."
    parts = [
        f"{_titled(group, analysis)}{share_words(group.between)} of the variance lies between "
        "them; another race of one sitting would find a ratio within "
        f"±{percent(group.between.reach)}"
        for group in analysis.groups
        if group.between is not None
    ]
    return ". ".join([unit, *parts]) + "."


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
    share, low, high = (
        f"{100 * value:.0f}" for value in (between.share, between.low, between.high)
    )
    return f"{share} % ({low} to {high} %)"


def sittings_tables(analysis: Analysis) -> list[Table]:
    """Empty for a race in one sitting."""
    if not analysis.units.sitting_of:
        return []
    return [table for table in (_between_table(analysis), _when_table(analysis)) if table.rows]


def _between_table(analysis: Analysis) -> Table:
    rows = [
        [
            group.title or "all contenders",
            f"{group.between.sittings}",
            share_words(group.between),
            f"±{percent(group.between.reach)}",
        ]
        for group in analysis.groups
        if group.between is not None
    ]
    header = ["cells", "sittings", "variance between them", "another race"]
    return plain_table(BETWEEN, BETWEEN_SAYS, header, rows)


def _when_table(analysis: Analysis) -> Table:
    header = ["sitting", "begun", "boot", "functions", "environment", "CPU", "kernel"]
    return plain_table(WHEN, WHEN_SAYS, header, [_sitting_row(one) for one in analysis.sittings])


def _sitting_row(one: Sitting) -> list[str]:
    begun = datetime.fromtimestamp(one.started_at, UTC)
    order = AS_BUILT if one.link_order is None else f"order {one.link_order}"
    boot = (one.boot_id or "unknown").partition("-")[0]
    size = f"{one.environment_bytes:,} bytes"
    when = f"{begun:%Y-%m-%d %H:%M} UTC"
    return [f"{one.number}", when, boot, order, size, one.cpu_model, one.kernel]


def _titled(group: Group, analysis: Analysis) -> str:
    return f"{group.title}: " if len(analysis.groups) > 1 else ""


REPEATED_SAYS = (
    "A disturbed trial is repeated together with the trials of its block that it is compared with; "
    "only the last attempt counts. By chance: the expected number of disturbed first attempts if "
    "disturbances hit contenders at random within blocks."
)
MOST_CHANGES = 3


def repeated_table(analysis: Analysis) -> Table | None:
    """A row a contender; None where no trial was run again."""
    if not analysis.repeated.hits:
        return None
    rows = [
        [hit.contender, f"{hit.trials}", f"{hit.disturbed}", f"{hit.by_chance:.1f}", f"{hit.again}"]
        for hit in analysis.repeated.hits
    ]
    header = ["design", "trials", "disturbed at first", "by chance", "repeated"]
    found = analysis.repeated
    unequal = "No design was disturbed more often than by chance."
    if found.is_unequal:
        beyond = f"was disturbed more often than by chance (p = {found.p_value:.2g})"
        unequal = f"{found.furthest} {beyond}."
    return plain_table("Repeated trials", f"{REPEATED_SAYS} {unequal}", header, rows)


def changed_sentence(analysis: Analysis) -> str:
    """Empty unless the first attempts would give other standings than those that count."""
    changed = analysis.repeated.changed
    if not changed:
        return ""
    changes = [_change_words(analysis, one) for one in changed[:MOST_CHANGES]]
    more = (
        f"; and {plural(len(changed) - MOST_CHANGES, 'other verdict')}"
        if len(changed) > MOST
        else ""
    )
    return f"Repeated trials change verdicts: with the first attempts {'; '.join(changes)}{more}."


def _change_words(analysis: Analysis, changed: ChangedVerdict) -> str:
    group = analysis.groups[changed.group]
    where = step_words(group, changed.then)
    table = f" ({group.title})" if len(analysis.groups) > 1 else ""
    now, then = (
        f"{listed(sorted(one.best)) if one.best else 'none'} ({one.outcome})"
        for one in (changed.now, changed.then)
    )
    return f"{where[0].lower()}{where[1:]}{table} the best would be {then}, not {now}"


CLOCK_SAYS = (
    "A fixed number of dependent instructions runs nine times on the server's CPUs before each "
    "window. Their shortest time shows the clock speed, here relative to the contenders compared "
    "in the same block; a median far above it means interrupts. Not detected: a clock that changes "
    "while the server runs, and CPU time that the host takes inside a window."
)


def clock_table(analysis: Analysis) -> Table | None:
    """A row a contender; None where no canary ran."""
    if not analysis.clocks:
        return None
    rows = [
        [
            ran.contender,
            f"{ran.trials}",
            f"{times(*clock)}\n{between(*clock)}",
            f"{ran.low_ns / 1000:.1f} µs",
            times(ran.median_ns / ran.low_ns),
            "differs" if ran.differs else "not distinguishable",
        ]
        for ran in analysis.clocks
        for clock in [(ran.clock, ran.low, ran.high)]
    ]
    header = ["design", "trials", "clock", "shortest time", "median ÷ shortest", ""]
    return plain_table("Clock speed", CLOCK_SAYS, header, rows)


def clock_sentence(analysis: Analysis) -> str:
    """Empty where no clock speed is distinguishable from the others."""
    ran_at = [
        f"{ran.contender} ran at {times(*clock)} ({between(*clock)})"
        for ran in analysis.clocks
        if ran.differs
        for clock in [(ran.clock, ran.low, ran.high)]
    ]
    if not ran_at:
        return ""
    return (
        f"Clock speeds differ: relative to the contenders it is compared with, "
        f"{'; '.join(ran_at)}. Their CPU times differ by clock speed, not by the work alone."
    )


SIDE_BY_SIDE_SAYS = (
    "Server CPU per request of a server that runs alone ÷ side by side with the others, in the "
    "blocks just before and after, over all steps. An effect common to all changes no "
    "comparison; the last columns show the rest."
)


def side_by_side_table(analysis: Analysis) -> Table | None:
    """A row a contender; None where none was raced alone."""
    if not analysis.side_by_side:
        return None
    rows = [
        [
            one.contender,
            f"{one.blocks}",
            f"{times(*ratio)}\n{between(*ratio)}",
            times(one.beside),
            "changed" if one.differs else "not distinguishable",
        ]
        for one in analysis.side_by_side
        for ratio in [(one.ratio, one.low, one.high)]
    ]
    header = ["design", "blocks alone", "alone ÷ side by side", "÷ mean of all", "comparison"]
    return plain_table("Alone and side by side", SIDE_BY_SIDE_SAYS, header, rows)


def side_by_side_sentence(analysis: Analysis) -> str:
    """Empty unless running side by side costs one contender more than the others."""
    costs = [
        f"raced alone, {one.contender} costs {times(*ratio)} times ({between(*ratio)}) "
        f"what it costs side by side, {times(one.beside)} relative to all "
        f"({plural(one.blocks, 'block')})"
        for one in analysis.side_by_side
        if one.differs
        for ratio in [(one.ratio, one.low, one.high)]
    ]
    return f"Running side by side changes a comparison: {'; '.join(costs)}." if costs else ""


def soundness_section(analysis: Analysis) -> Section:
    """What can be said of the trials as such."""
    sentences = [sittings_sentence(analysis), outlier_sentence(analysis)]
    tables = soundness_tables(analysis)
    return Section(
        "Soundness of the trials",
        text=tuple(filter(None, sentences)),
        tables=tuple(tables),
        charts=(warm_up_chart(analysis),) if analysis.warm_ups else (),
        rank=FOLDED,
        name="soundness",
    )


def warm_up_chart(analysis: Analysis) -> Chart:
    title = "Server CPU per request of each server's first process"
    says = "In slices of its load, from its first request on."
    return Chart("warm-up", title, says, (Panel("", "µs", warm_up_spec(analysis)),))
