"""A run that perf printed in intervals: its records, with sums, which perf does not print."""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from regatta.errors import UsageError
from regatta.review.figures import CORE, DESIGN, INTERVAL, Figure, Interval, Record
from regatta.review.names import CLOCKS, COUNTS, ELAPSED, SECONDS
from regatta.review.reading.block import Block

ADDED = COUNTS | CLOCKS
"""Figures that may be summed over intervals; shares, rates and GHz may not."""
MOST_CORES = 16
"""Kinds of core: some phones have 3."""


@dataclass
class Part:
    """An interval while it is read."""

    begins_s: float
    ends_s: float
    block: Block

    @property
    def length_s(self) -> float:
        return self.ends_s - self.begins_s


@dataclass
class Run:
    file: str
    keys: Mapping[str, str]
    parts: list[Part] = field(default_factory=list)

    @property
    def ends_s(self) -> float:
        return self.parts[-1].ends_s if self.parts else 0.0

    def at(self, ends_s: float, line: int) -> Block:
        """The interval that ends at this time."""
        if not self.parts or ends_s != self.ends_s:
            keys = {**self.keys, INTERVAL: f"interval to {ends_s:.3f} s"}
            self.parts.append(Part(self.ends_s, ends_s, Block(self.file, line, keys)))
        return self.parts[-1].block

    def records(self, summaries: Sequence[Record] = ()) -> list[Record]:
        """`summaries`: what perf printed for the whole run, one for each kind of core.

        Their user and system times are not used, as perf 6.1 prints 0 there.
        """
        whole = self._whole()
        if summaries:
            told = summaries[0]
            whole.keys = {DESIGN: told.design}
            if ELAPSED in told.figures:
                whole.figures["", ELAPSED] = told.figures[ELAPSED]
        by_core = {record.keys.get(CORE): record for record in summaries}
        cores = self._cores()
        parts = [
            (part, {record.keys.get(CORE): record for record in part.block.records(cores)})
            for part in self.parts
        ]
        found = []
        for record in whole.records(cores):
            core = record.keys.get(CORE)
            intervals = tuple(self._interval(part, of.get(core)) for part, of in parts)
            found.append(replace(record, intervals=intervals, summary=by_core.get(core)))
        return found

    def _whole(self) -> Block:
        block = Block(self.file, self.parts[0].block.line, self.keys)
        having: dict[tuple[str, str], list[Part]] = {}
        for part in self.parts:
            for place in part.block.figures:
                if place[1] in ADDED:
                    having.setdefault(place, []).append(part)
        block.figures = {place: added(place, parts) for place, parts in having.items()}
        last = self.parts[-1]
        text = f"{last.ends_s:.9f}"
        block.figures["", ELAPSED] = Figure(ELAPSED, last.ends_s, 0, text, "s", last.block.line)
        return block

    def _cores(self) -> list[str]:
        cores = list(dict.fromkeys(core for part in self.parts for core in part.block.cores))
        if len(cores) > MOST_CORES:
            line = self.parts[0].block.line
            raise UsageError(
                f"{self.file}:{line}: a run has {len(cores):,} kinds of core; a machine has at "
                f"most {MOST_CORES}"
            )
        return cores

    def _interval(self, part: Part, record: Record | None) -> Interval:
        nothing = Record(self.file, part.block.line, part.block.keys, {})
        return Interval(record or nothing, part.begins_s, part.ends_s)


def added(place: tuple[str, str], parts: Sequence[Part]) -> Figure:
    """The sum of a figure, at the line of the first; `running` is averaged over the time."""
    figures = [part.block.figures[place] for part in parts]
    first, value = figures[0], math.fsum(one.value for one in figures)
    time = sum(part.length_s for part in parts)
    ran = sum(part.length_s * one.running for part, one in zip(parts, figures, strict=True))
    return replace(
        first,
        value=value,
        half=math.fsum(one.half for one in figures),
        text=f"{value / SECONDS[first.unit]:.2f}" if first.unit in SECONDS else f"{value:,.0f}",
        running=ran / time if time > 0 else first.running,
    )


def with_summaries(runs: Sequence[Run], others: Sequence[Record]) -> tuple[Record, ...]:
    """All records; a summary that perf printed after a run's intervals is not a separate run."""
    others = sorted(others, key=lambda one: one.line)
    lines = [one.line for one in others]
    found: list[Record] = []
    summed: set[object] = set()
    for run in runs:
        records = run.records()
        behind = bisect_right(lines, run.parts[-1].block.line)
        upto = bisect_right(lines, lines[behind]) if behind < len(lines) else behind
        summaries = others[behind:upto]
        if summaries and is_summary(summaries[0], records[0]):
            summed.add(summaries[0].place)
            records = run.records(summaries)
        found += records
    left = [one for one in others if one.place not in summed]
    return tuple(sorted([*found, *left], key=lambda one: one.line))


def is_summary(record: Record, run: Record) -> bool:
    """Whether it has the run's CPU time or, if no clock was counted, most of its counts."""
    both = [name for name in record.figures if name in ADDED and name in run.figures]
    clocks = [name for name in both if name in CLOCKS]
    asked = clocks or [name for name in both if record.figures[name].value > 0]
    same = [record.figures[name].same_as(run.figures[name]) for name in asked]
    return bool(same) and 2 * sum(same) > len(same)
