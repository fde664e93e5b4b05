"""Clock speed of each contender: a table, and a sentence where it differs."""

from regatta.analysis.results import Analysis
from regatta.report.text.numbers import between, times
from regatta.report.text.table import Table

TITLE = "Clock speed"
SAYS = (
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
    return Table(TITLE, SAYS, header, rows)


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
