"""Clock speed of each contender: a table, and a sentence where it differs."""

from regatta.analysis.results import Analysis
from regatta.report.text.numbers import between, times
from regatta.report.text.table import Table

TITLE = "Clock speed"
SAYS = (
    "A fixed number of dependent instructions runs nine times on the server's CPUs before each "
    "window. Their undisturbed time tells the clock, here relative to the contenders compared in "
    "the same block; a median far above it means interrupts. Blind to a clock that changes while "
    "the server runs, and to what the host takes inside a window."
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
            "differs" if ran.differs else "no difference seen",
        ]
        for ran in analysis.clocks
        for clock in [(ran.clock, ran.low, ran.high)]
    ]
    header = ["design", "trials", "clock", "the instructions took", "median ÷ that", ""]
    return Table(TITLE, SAYS, header, rows)


def clock_sentence(analysis: Analysis) -> str:
    """Empty where all ran at the same clock, as far as this race can see."""
    ran_at = [
        f"{ran.contender} ran at {times(*clock)} ({between(*clock)})"
        for ran in analysis.clocks
        if ran.differs
        for clock in [(ran.clock, ran.low, ran.high)]
    ]
    if not ran_at:
        return ""
    return (
        f"Clock speeds differ: relative to those it is compared with, {'; '.join(ran_at)}. "
        "Their CPU times differ by the clock, and not by the work alone."
    )
