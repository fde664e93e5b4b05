"""The share of a design's cost that its bare twin has too: sentences and a table."""

from regatta.analysis.results import Analysis, Group
from regatta.analysis.twins import TwinShare, twin_shares
from regatta.report.text.numbers import between, percent, short, times
from regatta.report.text.table import Table


def shares(analysis: Analysis, group: Group) -> list[TwinShare]:
    return twin_shares(group, analysis.names.twins)


def twin_sentence(share: TwinShare) -> str:
    """If the twin costs as much as the design, only an upper bound of the rest is known."""
    if share.twin_us > share.us:
        most = f", at most {percent(share.high - 1)}" if share.high > 1 else ""
        return (
            f"{share.design}: {short(share.us)} µs, its bare twin {short(share.twin_us)}: the "
            f"difference is too small to measure{most}"
        )
    return (
        f"{share.design}: of {short(share.us)} µs, {short(share.twin_us)} are due to the "
        "strategy (its bare twin)"
    )


def twin_table(analysis: Analysis, group: Group, step: int) -> Table | None:
    """At one step; None where no twin was measured with its design."""
    found = [share for share in shares(analysis, group) if share.at == step]
    if not found:
        return None
    rows = [
        [
            share.design,
            f"{times(*ratio)}\n{between(*ratio)}",
            short(share.us),
            short(share.twin_us),
        ]
        for share in found
        for ratio in [(share.ratio, share.low, share.high)]
    ]
    says = (
        f"{'; '.join(map(twin_sentence, found))}. Server CPU per request; the ratio is paired "
        "within blocks, with its 95 % interval, which covers this sitting."
    )
    header = ["design", "ratio", "µs per request", "its bare twin"]
    return Table("Cost of the strategy", says, header, rows)
