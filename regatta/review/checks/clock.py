"""Time and cycles rank designs differently, because the clock frequency was not the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from regatta.analysis.numbers import digits
from regatta.review.checks.amounts import count, milliseconds
from regatta.review.checks.record_groups import Typical, groups, records, typical
from regatta.review.figures import DESIGN, Reading
from regatta.review.finding import NOT_SHOWN, Check, Finding
from regatta.review.names import CYCLES, TASK_CLOCK

LARGEST = 1.05
"""Clock frequencies within this factor count as equal."""
MOST_PAIRED = 100
"""At most this many designs are compared pairwise."""
DO = "compare cycles, or fix the clock (cpupower frequency-set -g performance) and measure again."
RANKS = Check("ranks", NOT_SHOWN, "time and cycles rank designs differently", DO)
CLOCK = Check("clocks", NOT_SHOWN, "different clock frequencies", DO)


@dataclass(frozen=True)
class Ran:
    """One design: its CPU time, its cycles, and the clock that follows."""

    time: Typical
    cycles: Typical

    @property
    def ghz(self) -> float:
        return self.cycles.value / self.time.value / 1e9

    @property
    def name(self) -> str:
        return self.time.record.design or f"line {self.time.record.line}"


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    """One finding for each comparison: the worst pair, else slowest and fastest clock."""
    for group in groups(records(readings), DESIGN):
        times, cycles = typical(group, TASK_CLOCK, DESIGN), typical(group, CYCLES, DESIGN)
        ran = [
            Ran(times[design], cycles[design])
            for design in times
            if design in cycles and times[design].value > 0 and cycles[design].value > 0
        ]
        if len(ran) < 2:
            continue
        slow, fast = min(ran, key=lambda one: one.ghz), max(ran, key=lambda one: one.ghz)
        if fast.ghz <= LARGEST * slow.ghz:
            continue
        pair = worst_inversion(ran)
        yield finding(*pair, RANKS) if pair else finding(fast, slow, CLOCK)


def worst_inversion(ran: list[Ran]) -> tuple[Ran, Ran] | None:
    """Of the pairs in which one took no more time but more cycles, the one whose clocks differ
    most."""
    inverted = [
        (first, second)
        for first, second in permutations(ran[:MOST_PAIRED], 2)
        if first.time.value <= second.time.value
        and first.cycles.value > second.cycles.value
        and first.ghz > LARGEST * second.ghz
    ]
    return max(inverted, key=lambda pair: pair[0].ghz / pair[1].ghz, default=None)


def finding(fast: Ran, slow: Ran, check: Check) -> Finding:
    says = (
        f"{fast.name} took {milliseconds(fast.time.value)} and {slow.name} "
        f"{milliseconds(slow.time.value)}, but {count(fast.cycles.value)} and "
        f"{count(slow.cycles.value)} cycles: {digits(fast.ghz)} and {digits(slow.ghz)} GHz."
    )
    record, figure = fast.time.record, fast.time.figure
    return check.found(record, says, line=figure.line, printed=fast.ghz, computed=slow.ghz)
