"""How far sittings differ: a sentence, a line of the screen, two tables."""

from datetime import UTC, datetime

from regatta.analysis.results import Analysis, Group
from regatta.analysis.statistics.between_sittings import Between
from regatta.ledger.records import Sitting
from regatta.report.text.numbers import percent, plural
from regatta.report.text.table import Table

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
    return Table(BETWEEN, BETWEEN_SAYS, header, rows)


def _when_table(analysis: Analysis) -> Table:
    header = ["sitting", "begun", "boot", "functions", "environment", "CPU", "kernel"]
    return Table(WHEN, WHEN_SAYS, header, [_row(one) for one in analysis.sittings])


def _row(one: Sitting) -> list[str]:
    begun = datetime.fromtimestamp(one.started_at, UTC)
    order = AS_BUILT if one.link_order is None else f"order {one.link_order}"
    boot = (one.boot_id or "unknown").partition("-")[0]
    size = f"{one.environment_bytes:,} bytes"
    when = f"{begun:%Y-%m-%d %H:%M} UTC"
    return [f"{one.number}", when, boot, order, size, one.cpu_model, one.kernel]


def _titled(group: Group, analysis: Analysis) -> str:
    return f"{group.title}: " if len(analysis.groups) > 1 else ""
