"""A whole process: how much of it is start and end, and not what was asked of it.

What does not grow with the number of connections is no connection's. Where there is one number
alone, a process that hardly ran may be all start.
"""

from collections.abc import Iterator, Sequence

from regatta.review.checks.amounts import milliseconds, share
from regatta.review.checks.groups import Typical, by_file, groups, typical
from regatta.review.figures import CLIENT, CONNECTIONS, SIDE, Reading, Record
from regatta.review.finding import NOT_SHOWN, Check, Finding, and_others
from regatta.review.names import TASK_CLOCK

MOST_SHARE = 0.75
START_S = 5e-3
"""What start and end of a server take: 1 to 5 ms (docs/findings.md)."""
DO = (
    "count the load alone (perf stat -D -1 --control), or take an idle run's figures off, or ask "
    "more often."
)
FIXED = Check("start-and-end", NOT_SHOWN, "mostly start and end", DO)
SHORT = Check("short", NOT_SHOWN, "so short that it may be all start and end", DO)


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
        says = f"{ends}: more connections took no more, so that little of it is theirs."
    else:
        says = (
            f"{ends}: {milliseconds(each)} a connection, so that {milliseconds(at_none)} "
            f"({share(at_none, low.value)}) at {few:g} are no connection's."
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
    says = f"{time.words} of CPU in all; a server's start and end take 1 to 5 ms."
    says += and_others(len(those) - 1, "run")
    return SHORT.found(least, says, line=time.line, printed=time.value, computed=START_S)
