"""Counted in user space only, for lack of privileges; a server works mostly in the kernel."""

from collections.abc import Iterator, Sequence

from regatta.review.checks.amounts import milliseconds, share
from regatta.review.checks.record_groups import by_file
from regatta.review.figures import Figure, Reading, Record
from regatta.review.finding import NOT_SHOWN, Check, Finding, and_others
from regatta.review.names import COUNTS, SYSTEM, USER

USER_SPACE = Check(
    "user-space",
    NOT_SHOWN,
    "the kernel's work was not counted",
    "count as root, or set sysctl kernel.perf_event_paranoid=1 first.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for found in by_file(readings):
        those = [(record, one) for record in found if (one := in_user_space(record))]
        if those:
            record, figure = those[0]
            says = f"{figure.words} were counted in user space only{split(record)}."
            says += and_others(len(those) - 1, "run")
            yield USER_SPACE.found(record, says, line=figure.line)


def in_user_space(record: Record) -> Figure | None:
    """A count that is not 0; kernel-only events read 0."""
    counts = (one for one in record.figures.values() if one.user_only and one.name in COUNTS)
    return next((one for one in counts if one.value), None)


def split(record: Record) -> str:
    user, system = record.figures.get(USER), record.figures.get(SYSTEM)
    if user is None or system is None or user.value + system.value <= 0:
        return ""
    both = user.value + system.value
    return f"; {share(system.value, both)} of {milliseconds(both)} were spent in the kernel"
