"""Groups records that may be compared with each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from regatta.review.figures import Figure, Reading, Record


def records(readings: Sequence[Reading]) -> Iterator[Record]:
    for reading in readings:
        yield from reading.records


def as_printed(readings: Sequence[Reading]) -> Iterator[Record]:
    """The records as printed: a run in intervals as its intervals, not as their sum."""
    for record in records(readings):
        yield from record.printed


def in_intervals(readings: Sequence[Reading]) -> Iterator[Record]:
    """Runs with several intervals; only the first kind of core of each."""
    seen: set[object] = set()
    for record in records(readings):
        if len(record.intervals) > 1 and record.place not in seen:
            seen.add(record.place)
            yield record


def by_file(readings: Sequence[Reading]) -> Iterator[list[Record]]:
    """The records of each file that has any."""
    for reading in readings:
        if reading.records:
            yield list(reading.records)


def groups(found: Iterator[Record], *but: str) -> list[list[Record]]:
    """Records that differ only in these keys."""
    same: dict[tuple[object, ...], list[Record]] = {}
    for record in found:
        same.setdefault(record.same_but(*but), []).append(record)
    return list(same.values())


@dataclass(frozen=True)
class Typical:
    """The median figure of several runs, and the first of their records."""

    record: Record
    figure: Figure
    """The first record's figure."""
    value: float


def typical(group: list[Record], name: str, key: str) -> dict[str, Typical]:
    """The figure of this name for each value of a key (design, connections)."""
    runs: dict[str, list[Record]] = {}
    for record in group:
        if name in record.figures:
            runs.setdefault(record.keys.get(key, ""), []).append(record)
    return {
        value: Typical(
            those[0], those[0].figures[name], median(one.figures[name].value for one in those)
        )
        for value, those in runs.items()
    }
