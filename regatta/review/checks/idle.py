"""A process that mostly waited: its elapsed time does not measure its work."""

from collections.abc import Iterator, Sequence

from regatta.review.checks.amounts import milliseconds, share
from regatta.review.checks.record_groups import by_file
from regatta.review.figures import Reading, Record
from regatta.review.finding import NOT_SHOWN, Check, Finding, and_others
from regatta.review.names import ELAPSED, TASK_CLOCK

LEAST_SHARE = 0.1
IDLE = Check(
    "idle",
    NOT_SHOWN,
    "elapsed time is mostly waiting",
    "do not rank by it: it includes waiting for clients, retries or Ctrl-C. Time the requests.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for found in by_file(readings):
        idle = sorted((part, one.line, one) for one in found if (part := busy(one)) < LEAST_SHARE)
        if idle:
            record = idle[0][2]
            time, elapsed = record.figures[TASK_CLOCK], record.figures[ELAPSED]
            says = (
                f"{milliseconds(time.value)} of CPU in {elapsed.words}: "
                f"{share(time.value, elapsed.value)}."
            )
            says += and_others(len(idle) - 1, "run")
            yield IDLE.found(record, says, line=elapsed.line, printed=elapsed.value)


def busy(record: Record) -> float:
    """CPU time as a share of elapsed time; 1 if unknown."""
    time, elapsed = record.figures.get(TASK_CLOCK), record.figures.get(ELAPSED)
    return time.value / elapsed.value if time and elapsed and elapsed.value > 0 else 1.0
