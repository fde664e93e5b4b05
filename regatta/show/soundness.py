"""How far the trials can be trusted: what each check found, and the warm-up. Where one of them
changes what a comparison means, a note says so (notes.py); the JSON has every figure."""

from collections.abc import Sequence

from regatta.judge.results import Analysis
from regatta.judge.statistics.units import Between
from regatta.record.study.limits import START_SKEW_LIMIT_MS
from regatta.show.charts import warm_up_spec
from regatta.show.numbers import percent, plural, ratio_cell, short
from regatta.show.view import FOLDED, Chart, Panel, Section, Table, table_of

NS_PER_MS = 1e6


def soundness_section(analysis: Analysis) -> Section:
    """What can be said of the trials as such."""
    checks = (
        *(sittings_sentence, clients_sentence, repeats_sentence),
        *(clocks_sentence, outlier_sentence),
    )
    return Section(
        "Soundness of the trials",
        text=tuple(filter(None, (check(analysis) for check in checks))),
        tables=tuple(warm_up_table(analysis)),
        charts=(_warm_up_chart(analysis),) if any(warm.curve for warm in analysis.warm_ups) else (),
        rank=FOLDED,
        name="soundness",
    )


IN_ONE = (
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
        return IN_ONE
    count = len(set(units.sitting_of.values()))
    says = f"{plural(count, 'sitting')}: {RESTS_ON}" + SEARCHED_ONCE * bool(analysis.held)
    if count < units.fewest:
        return f"{says}, and a verdict needs {units.fewest} of them."
    several = len(analysis.groups) > 1
    parts = [
        f"{f'{title}: a' if several else 'A'}nother race of one sitting would find a ratio within "
        f"±{percent(between.reach)}"
        for title, between in _spreads(analysis)
    ]
    return ". ".join([says, *parts]) + "."


def sittings_line(analysis: Analysis) -> str:
    """The same for the screen, for the table with the largest spread; empty for one sitting."""
    if not analysis.units.sitting_of:
        return ""
    count = plural(len(set(analysis.units.sitting_of.values())), "sitting")
    most = max((of for _, of in _spreads(analysis)), key=lambda of: of.reach, default=None)
    if most is None:
        return f"{count}: too few to estimate how far they differ"
    return f"{count}: another race ±{percent(most.reach)}"


def _spreads(analysis: Analysis) -> list[tuple[str, Between]]:
    """Of each group between its sittings."""
    return [(group.title, group.between) for group in analysis.groups if group.between is not None]


def repeats_sentence(analysis: Analysis) -> str:
    """Whether disturbances hit one contender more than the others; empty without repeats."""
    found = analysis.repeated
    if not found.hits:
        return ""
    again = sum(hit.again for hit in found.hits)
    who = f"{found.furthest} was" if found.is_unequal else "No design was"
    p_value = f" (p = {found.p_value:.2g})" if found.is_unequal else ""
    return (
        f"{plural(again, 'trial')} repeated after a disturbance, together with those of the same "
        f"block that they are compared with. {who} disturbed more often than by chance{p_value}."
    )


def clocks_sentence(analysis: Analysis) -> str:
    """What was compared and found alike; a note has what differs."""
    alike = "is not distinguishable between the contenders"
    parts = []
    if analysis.clocks and not any(ran.differs for ran in analysis.clocks):
        parts.append(f"The clock speed before each window {alike}.")
    if analysis.side_by_side and not any(ran.differs for ran in analysis.side_by_side):
        parts.append(f"What running alone costs or saves {alike}.")
    return " ".join(parts)


def outlier_sentence(analysis: Analysis) -> str:
    """Empty without outliers."""
    trials = {(outlier.cell.id, outlier.block) for outlier in analysis.outliers}
    if not trials:
        return ""
    names = sorted({outlier.cell.contender for outlier in analysis.outliers})
    return (
        f"{plural(len(trials), 'outlier')} in {plural(analysis.trials, 'trial')} "
        f"({', '.join(names)}), three interquartile ranges beyond the others of their cell; kept "
        "in every average."
    )


def clients_sentence(analysis: Analysis) -> str:
    """How nearly several clients of a load were one; empty where one client made every load."""
    found = analysis.shared_loads
    if found is None:
        return ""
    skew = short(found.skew_p99_ns / NS_PER_MS)
    return (
        f"{plural(found.clients, 'client')} shared each load, and used at most "
        f"{percent(found.most_cpu_share)} of their CPU; percentiles pool all their requests. They "
        f"started within {skew} ms of each other in 99 % of trials; a trial with more than "
        f"{START_SKEW_LIMIT_MS:g} ms is repeated."
    )


def warm_up_table(analysis: Analysis) -> Sequence[Table]:
    """A row a contender and work, with what its first process needed."""
    return table_of(
        "Warm-up",
        "Each server's first process was watched from its first request, as fast as it answers, "
        "until its CPU per request and p50 were level; later processes get 1.5 times as many "
        "requests and are watched again. A server whose cost still moves in the window, or that is "
        "not steady in over 1 of 10 processes, cannot win.",
        analysis.warm_ups,
        {
            "design": lambda warm: warm.contender,
            "work": lambda warm: warm.work,
            "first process": lambda warm: warm.kind,
            "warm after, requests": lambda warm: f"{warm.requests:,}",
            "under load": lambda warm: f"{warm.seconds:.1f} s",
            "processes not steady": lambda warm: f"{warm.unsteady} of {warm.watched}",
            "window ÷ end of warm-up": lambda warm: ratio_cell(warm.moves) if warm.moves else "",
            "measured": lambda warm: warm.why_not or "warm",
        },
    )


def _warm_up_chart(analysis: Analysis) -> Chart:
    title = "Server CPU per request of each server's first process"
    says = "In slices of its load, from its first request on."
    return Chart("warm-up", title, says, (Panel("", "µs", warm_up_spec(analysis)),))
