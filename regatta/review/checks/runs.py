"""A single run does not show how much the next one would differ."""

from collections.abc import Iterator, Sequence

from regatta.review.checks.record_groups import records
from regatta.review.figures import CORE, Reading, Record
from regatta.review.finding import NOT_SHOWN, Check, Finding

ONE_RUN = Check(
    "one-run",
    NOT_SHOWN,
    "one run only",
    "repeat each ten times (perf stat -r 10), in turn, and report the spread; or race them: "
    "regatta race.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    """One finding for a table, or for all outputs of perf, if most of their runs are single."""
    compared: dict[object, dict[tuple[str, ...], list[Record]]] = {}
    for record in records(readings):
        runs = compared.setdefault(record.same_but(*record.keys), {})
        what = tuple(value for key, value in record.keys.items() if key != CORE)
        # Two kinds of core are two records of one run.
        if all(other.place != record.place for other in runs.get(what, ())):
            runs.setdefault(what, []).append(record)
    for runs in compared.values():
        once = [those[0] for those in runs.values() if len(those) == 1 and not those[0].repeated]
        if 2 * len(once) > len(runs):
            who = "It" if len(runs) == 1 else f"{len(once):,} of {len(runs):,}"
            says = f"{who} ran only once: any difference may be chance."
            if any(record.intervals for record in once):
                says += " Intervals are parts of one run, not several runs."
            yield ONE_RUN.found(once[0], says)
