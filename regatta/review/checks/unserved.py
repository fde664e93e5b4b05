"""A server that used almost no CPU compared with the others, for the same clients."""

from collections.abc import Iterator, Sequence

from regatta.review.checks.amounts import milliseconds, share
from regatta.review.checks.record_groups import groups, records, typical
from regatta.review.figures import CLIENT, DESIGN, SIDE, Reading
from regatta.review.finding import NOT_SHOWN, Check, Finding
from regatta.review.names import TASK_CLOCK

FEWEST_OTHERS = 2
FRACTION = 0.1
"""Of the next smallest. The cost of a request differs between designs only by a factor of 2 or 3.
"""
UNSERVED = Check(
    "unserved",
    NOT_SHOWN,
    "a server that hardly ran",
    "check that every client got an answer; this is about what a server needs to start and stop "
    "without serving any.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    servers = (one for one in records(readings) if one.keys.get(SIDE) != CLIENT)
    for group in groups(servers, DESIGN):
        ranked = sorted(typical(group, TASK_CLOCK, DESIGN).values(), key=lambda one: one.value)
        if len(ranked) > FEWEST_OTHERS and ranked[0].value < FRACTION * ranked[1].value:
            least, other = ranked[0], ranked[1]
            says = (
                f"{milliseconds(least.value)} of CPU, {share(least.value, other.value)} of what "
                f"{other.record.design} used ({milliseconds(other.value)}), and all others more."
            )
            yield UNSERVED.found(
                least.record,
                says,
                line=least.figure.line,
                printed=least.value,
                computed=other.value,
            )
