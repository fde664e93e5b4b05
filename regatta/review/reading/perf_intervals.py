"""The output of `perf stat -I`: the usual lines, each after the time when its interval ended.

A run in intervals becomes one record with sums, which perf does not print. Lines without a time
belong to another run's output, or to a --summary of the whole run.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from regatta.errors import UsageError
from regatta.review.figures import CORE, DESIGN, INTERVAL, Figure, Interval, Reading, Record
from regatta.review.names import CLOCKS, COUNTS, ELAPSED, SECONDS
from regatta.review.reading.perf import Block, On, read_outputs
from regatta.review.reading.perf_line import HEADER, LONGEST_LINE, form_of

FORM = "perf stat -I"
STAMPED = re.compile(r"\s*(?P<time>\d{1,9}\.\d{9})(?:[,;|:]|\s+)(?!\s|seconds)(?P<rest>.*)")
"""`12.035832585 seconds time elapsed` is not an interval."""
STAMPED_JSON = re.compile(
    r'\s*\{\s*"interval"\s*:\s*(?P<time>\d{1,9}\.\d{1,9})\s*,(?P<rest>.*)', re.DOTALL
)
SUMMARY = re.compile(r"\s*summary[,;|:\t](?P<rest>.*)")
"""How each line of a summary begins if -x is given."""
BEGINS = "# started on"
"""What perf writes above each output in a file."""
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
            whole.keys = {DESIGN: summaries[0].design}
            if ELAPSED in summaries[0].figures:
                whole.figures[("", ""), ELAPSED] = summaries[0].figures[ELAPSED]
        by_core = {record.keys.get(CORE): record for record in summaries}
        places = list(dict.fromkeys(on for part in self.parts for on in part.block.places))
        if len(places) > MOST_CORES:
            raise UsageError(
                f"{self.file}:{self.parts[0].block.line}: a run has {len(places):,} kinds of core; "
                f"a machine has at most {MOST_CORES}"
            )
        parts = [
            (part, {record.keys.get(CORE): record for record in part.block.records(places)})
            for part in self.parts
        ]
        found = []
        for record in whole.records(places):
            core = record.keys.get(CORE)
            intervals = tuple(interval(part, of.get(core)) for part, of in parts)
            found.append(replace(record, intervals=intervals, summary=by_core.get(core)))
        return found

    def _whole(self) -> Block:
        block = Block(self.file, self.parts[0].block.line, self.keys)
        having: dict[tuple[On, str], list[Part]] = {}
        for part in self.parts:
            for place in part.block.figures:
                if place[1] in ADDED:
                    having.setdefault(place, []).append(part)
        block.figures = {place: added(place, parts) for place, parts in having.items()}
        last, text = self.parts[-1], f"{self.ends_s:.9f}"
        elapsed = Figure(ELAPSED, last.ends_s, 0, text, "s", last.block.line)
        block.figures[("", ""), ELAPSED] = elapsed
        return block


def interval(part: Part, record: Record | None) -> Interval:
    nothing = Record(part.block.file, part.block.line, part.block.keys, {})
    return Interval(record or nothing, part.begins_s, part.ends_s)


def added(place: tuple[On, str], parts: Sequence[Part]) -> Figure:
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


def read_perf(file: str, lines: Sequence[str], design: str) -> Reading | None:
    """All outputs of perf; of those in intervals, a run begins where time goes backwards, and
    after another output."""
    stamped = [taken_apart(line) for line in lines]
    form = form_of(file, [rest for ends_s, rest in stamped if ends_s is not None])
    if form is None:
        return read_outputs(file, lines, design)
    keys, taken = {DESIGN: design}, set()  # perf says nothing of the command here
    runs = [Run(file, keys)]
    for number, (ends_s, rest) in enumerate(stamped, start=1):
        # A damaged line is skipped; a later check reports what its interval lacks.
        printed = None if ends_s is None else form.parse(rest, number)
        if ends_s is None or printed is None:
            again = ends_s is None and begins_output(rest)
        else:
            again = ends_s < runs[-1].ends_s
        if again and runs[-1].parts:
            runs.append(Run(file, keys))
        if ends_s is not None and printed is not None:
            taken.add(number)
            block = runs[-1].at(ends_s, number)
            bare = replace(printed, part="")
            if block.has(bare):
                if printed.part:
                    raise UsageError(
                        f"{file}:{number}: {printed.event[:40]} is counted twice at {ends_s:.9f} "
                        "s; give one count for all CPUs (perf without -A, --per-core and the like)"
                    )
                # perf computes ratios from the mean of both, as it does with -r over all runs.
                block.repeated = True
            block.take(bare)
    runs = [run for run in runs if run.parts]
    others = ["" if ends_s is not None else rest for ends_s, rest in stamped]
    found = read_outputs(file, others, design)
    if not runs:
        return found
    records = with_summaries(runs, found.records if found else ())
    return Reading(file, FORM, records, frozenset(taken) | (found.taken if found else frozenset()))


def taken_apart(line: str) -> tuple[float | None, str]:
    """When its interval ended, if it belongs to one, and the rest of it."""
    if len(line) <= LONGEST_LINE:
        if found := STAMPED_JSON.fullmatch(line):
            return float(found["time"]), "{" + found["rest"]
        if found := STAMPED.fullmatch(line):
            return float(found["time"]), found["rest"]
        if found := SUMMARY.fullmatch(line):
            return None, found["rest"]
    return None, line


def begins_output(line: str) -> bool:
    short = len(line) <= LONGEST_LINE
    return line.startswith(BEGINS) or (short and HEADER.fullmatch(line) is not None)


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
