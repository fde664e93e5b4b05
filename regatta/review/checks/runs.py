"""One run of each says nothing of how far the next would have been off."""

from collections import Counter
from collections.abc import Iterator, Sequence

from regatta.review.checks.groups import records
from regatta.review.figures import Reading, Record
from regatta.review.finding import NOT_SHOWN, Check, Finding

ONE_RUN = Check(
    "one-run",
    NOT_SHOWN,
    "one run only",
    "repeat each ten times in turn and give the spread (perf stat -r 10), or race them: "
    "regatta race.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    """One finding for a table, or for all outputs of perf, in which nothing was repeated."""
    sets: dict[object, list[Record]] = {}
    for record in records(readings):
        sets.setdefault(record.same_but(*record.keys), []).append(record)
    for those in sets.values():
        runs = Counter(tuple(record.keys.values()) for record in those)
        if max(runs.values()) > 1 or any(record.repeated for record in those):
            continue
        first = those[0]
        says = (
            "It was measured once"
            if len(those) == 1
            else f"Each of {len(those):,} was measured once"
        )
        yield ONE_RUN.found(first, f"{says}: no difference is shown to be more than chance.")
