"""The output of `perf stat -I`: the usual lines, each after the time when its interval ended.

A run in intervals becomes one record with sums, which perf does not print. Lines without a time
belong to another run's output, or to a --summary of the whole run.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from regatta.errors import UsageError
from regatta.review.figures import CORE, DESIGN, Figure, Interval, Reading, Record
from regatta.review.names import CLOCKS, COUNTS, SECONDS
from regatta.review.reading.perf import ALL, Block, On, read_outputs
from regatta.review.reading.perf_line import HEADER, LONGEST_LINE, form_of

STAMPED = re.compile(r"\s*(?P<time>\d{1,9}\.\d{9})(?:[,;|:]|\s+)(?!\s|seconds)(?P<rest>.*)")
"""`12.035832585 seconds time elapsed` is not an interval."""
STAMPED_JSON = re.compile(
    r'\s*\{\s*"interval"\s*:\s*(?P<time>\d{1,9}\.\d{1,9})\s*,(?P<rest>.*)', re.DOTALL
)
SUMMARY = re.compile(r"\s*summary[,;|:\t](?P<rest>.*)")
"""How each line of a summary begins if -x is given."""
BEGINS = "# started on"  # what perf writes above each output in a file
ADDED = COUNTS | CLOCKS  # figures that may be summed over intervals; shares, rates and GHz may not
MOST_CORES = 16  # kinds of core: some phones have 3
Run = list[Block]


def read_perf(file: str, lines: Sequence[str], design: str) -> Reading | None:
    """All outputs of perf; of those in intervals, a run begins where time goes backwards, and
    after another output."""
    stamped = [taken_apart(line) for line in lines]
    form = form_of(file, [rest for ends_s, rest in stamped if ends_s is not None])
    if form is None:
        return read_outputs(file, lines, design)
    taken: set[int] = set()
    runs: list[Run] = [[]]
    for number, (ends_s, rest) in enumerate(stamped, start=1):
        if ends_s is None:
            if runs[-1] and (rest.startswith(BEGINS) or is_header(rest)):
                runs.append([])
            continue
        # A damaged line is skipped; a later check reports what its interval lacks.
        if (printed := form[1](rest, number)) is None:
            continue
        taken.add(number)
        if runs[-1] and ends_s < runs[-1][-1].ends_s:
            runs.append([])
        begins_s = runs[-1][-1].ends_s if runs[-1] else 0.0
        if not runs[-1] or ends_s != begins_s:
            keys = {DESIGN: design, "interval": f"interval to {ends_s:.3f} s"}
            runs[-1].append(Block(file, number, keys, begins_s=begins_s, ends_s=ends_s))
        block, whole = runs[-1][-1], replace(printed, fields={**printed.fields, "part": ""})
        if block.has(whole):
            if printed["part"]:
                raise UsageError(
                    f"{file}:{number}: {printed['event'][:40]} is counted twice at {ends_s:.9f} s; "
                    "give one count for all CPUs (perf without -A, --per-core and the like)"
                )
            # perf computes ratios from the mean of both, as it does with -r over all runs.
            block.repeated = True
        block.take(whole)
    others = ["" if ends_s is not None else rest for ends_s, rest in stamped]
    found = read_outputs(file, others, design)
    runs = [run for run in runs if run]
    if not runs:
        return found
    records = with_summaries(runs, found.records if found else ())
    taken |= found.taken if found else set()
    return Reading(file, "perf stat -I", records, frozenset(taken))


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


def is_header(line: str) -> bool:
    return len(line) <= LONGEST_LINE and HEADER.fullmatch(line) is not None


def records_of(run: Run, summaries: Sequence[Record] = ()) -> list[Record]:
    """`summaries`: what perf printed for the whole run, one for each kind of core.

    Their user and system times are not used, as perf 6.1 prints 0 there.
    """
    keys = {DESIGN: summaries[0].design if summaries else run[0].keys[DESIGN]}
    whole = Block(run[0].file, run[0].line, keys)
    having: dict[tuple[On, str], list[Block]] = {}
    for block in run:
        for place in block.figures:
            if place[1] in ADDED:
                having.setdefault(place, []).append(block)
    whole.figures = {place: added(place, blocks) for place, blocks in having.items()}
    end, text = run[-1].ends_s, f"{run[-1].ends_s:.9f}"
    elapsed = summaries[0].figures.get("elapsed") if summaries else None
    whole.add(ALL, elapsed or Figure("elapsed", end, 0, text, "s", run[-1].line))
    places = list(dict.fromkeys(on for block in run for on in block.places))
    if len(places) > MOST_CORES:
        raise UsageError(
            f"{whole.file}:{whole.line}: a run has {len(places):,} kinds of core; a machine has at "
            f"most {MOST_CORES}"
        )
    by_core = {record.keys.get(CORE): record for record in summaries}
    parts = [{one.keys.get(CORE): one for one in block.records(places)} for block in run]
    found = []
    for record in whole.records(places):
        core = record.keys.get(CORE)
        intervals = tuple(
            Interval(
                of.get(core) or Record(block.file, block.line, block.keys, {}),
                block.begins_s,
                block.ends_s,
            )
            for block, of in zip(run, parts, strict=True)
        )
        found.append(replace(record, intervals=intervals, summary=by_core.get(core)))
    return found


def added(place: tuple[On, str], blocks: Sequence[Block]) -> Figure:
    """The sum of a figure, at the line of the first; `running` is averaged over the time."""
    figures = [(block.figures[place], block.ends_s - block.begins_s) for block in blocks]
    first, value = figures[0][0], math.fsum(one.value for one, _ in figures)
    time = sum(length for _, length in figures)
    ran = sum(one.running * length for one, length in figures)
    return replace(
        first,
        value=value,
        half=math.fsum(one.half for one, _ in figures),
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
        records = records_of(run)
        behind = bisect_right(lines, run[-1].line)
        upto = bisect_right(lines, lines[behind]) if behind < len(lines) else behind
        summaries = others[behind:upto]
        if summaries and is_summary(summaries[0], records[0]):
            summed.add(summaries[0].place)
            records = records_of(run, summaries)
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
