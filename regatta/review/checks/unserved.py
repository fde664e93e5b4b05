"""A server that used next to nothing of what all others needed for the same clients."""

from collections.abc import Iterator, Sequence

from regatta.review.checks.amounts import milliseconds, share
from regatta.review.checks.groups import groups, records, typical
from regatta.review.figures import CLIENT, DESIGN, SIDE, Reading
from regatta.review.finding import NOT_SHOWN, Check, Finding
from regatta.review.names import TASK_CLOCK

FEWEST_OTHERS = 2
FRACTION = 0.1
"""Of the least of all others. Designs differ by a factor of 2 or 3 in what one request costs."""
UNSERVED = Check(
    "unserved",
    NOT_SHOWN,
    "a server that hardly ran",
    "check that every client was answered; a server that starts, serves nobody and ends needs "
    "about this.",
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
