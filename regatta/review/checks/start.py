"""Counts of whole processes that are mostly startup and shutdown.

A cost that does not grow with the number of connections is not caused by them. With only one number
of connections, a very short process may be nothing but startup.
"""

from collections.abc import Iterator, Sequence

from regatta.review.checks.amounts import milliseconds, share
from regatta.review.checks.record_groups import Typical, by_file, groups, typical
from regatta.review.figures import CLIENT, CONNECTIONS, SIDE, Reading, Record
from regatta.review.finding import NOT_SHOWN, Check, Finding, and_others
from regatta.review.names import TASK_CLOCK

MOST_SHARE = 0.75
START_S = 5e-3
"""Startup and shutdown of a server take 1 to 5 ms (docs/findings.md)."""
DO = (
    "count only the load (perf stat -D -1 --control), subtract the figures of an idle run, or send "
    "more requests."
)
FIXED = Check("start-and-end", NOT_SHOWN, "mostly startup and shutdown", DO)
SHORT = Check("short", NOT_SHOWN, "short enough to be only startup and shutdown", DO)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for found in by_file(readings):
        short: dict[int, Record] = {}
        for group in groups(iter(found), CONNECTIONS):
            steps = sorted(
                (float(count), one)
                for count, one in typical(group, TASK_CLOCK, CONNECTIONS).items()
                if count.isascii() and count.isdecimal()
            )
            if len(steps) > 1:
                yield from fixed(steps)
            else:
                short |= {one.figures[TASK_CLOCK].line: one for one in group if is_short(one)}
        if short:
            yield too_short(list(short.values()))


def fixed(steps: list[tuple[float, Typical]]) -> Iterator[Finding]:
    """By the straight line through the fewest and the most connections."""
    (few, low), (many, high) = steps[0], steps[-1]
    each = (high.value - low.value) / (many - few)
    at_none = low.value - each * few
    if low.value <= 0 or at_none < MOST_SHARE * low.value:
        return
    ends = f"{milliseconds(low.value)} at {few:g}, {milliseconds(high.value)} at {many:g}"
    if each <= 0:
        says = f"{ends}: more connections cost nothing more, so little of it is due to them."
    else:
        says = (
            f"{ends}: {milliseconds(each)} per connection, so {milliseconds(at_none)} "
            f"({share(at_none, low.value)}) at {few:g} are not due to connections."
        )
    yield FIXED.found(low.record, says, line=low.figure.line, printed=low.value, computed=at_none)


def is_short(record: Record) -> bool:
    time = record.figures.get(TASK_CLOCK)
    return (
        time is not None
        and 0 < time.value < START_S
        and record.keys.get(SIDE) != CLIENT
        and not record.repeated
    )


def too_short(those: list[Record]) -> Finding:
    least = min(those, key=lambda one: one.figures[TASK_CLOCK].value)
    time = least.figures[TASK_CLOCK]
    says = f"{time.words} of CPU in all; startup and shutdown of a server take 1 to 5 ms."
    says += and_others(len(those) - 1, "run")
    return SHORT.found(least, says, line=time.line, printed=time.value, computed=START_S)
