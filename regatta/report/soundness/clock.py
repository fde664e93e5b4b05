"""Clock speed of each contender: a table, and a sentence where it differs."""

from regatta.analysis.analyse import Analysis
from regatta.analysis.soundness.clock import Ran
from regatta.report.text.numbers import DASH, times
from regatta.report.text.table import Table

TITLE = "At what clock they ran"
SAYS = (
    "Just before each window a fixed number of dependent instructions is run on the server's CPUs, "
    "nine times. What they take when nothing comes between tells the clock, here by the mean of "
    "those that are compared in the same block; a median far above it says that interrupts came. "
    "It does not see a clock that changes while the server runs, nor what the host takes inside a "
    "window."
)


def clock_table(analysis: Analysis) -> Table | None:
    """A row a contender; None where no canary sang."""
    if not analysis.clocks:
        return None
    rows = [
        [
            ran.contender,
            f"{ran.trials}",
            f"{times(ran.clock)}\n{times(ran.low)}{DASH}{times(ran.high)}",
            f"{ran.low_ns / 1000:.1f} µs",
            times(ran.median_ns / ran.low_ns),
            "differs" if ran.differs else "no difference seen",
        ]
        for ran in analysis.clocks
    ]
    header = ["design", "trials", "clock", "the instructions took", "median ÷ that", ""]
    return Table(TITLE, SAYS, header, rows)


def clock_sentence(analysis: Analysis) -> str:
    """Empty where all ran at the same clock, as far as this race can see."""
    slower = [ran for ran in analysis.clocks if ran.differs]
    if not slower:
        return ""
    return (
        "Not all ran at the same clock: by the mean clock of those that are compared, "
        f"{'; '.join(map(_told, slower))}. Their CPU times are of different clocks, and not of "
        "different work alone."
    )


def _told(ran: Ran) -> str:
    return f"{ran.contender} ran at {times(ran.clock)} ({times(ran.low)} to {times(ran.high)})"
