"""The output of `perf stat -I`: the usual lines, each after the time when its interval ended.

Lines without a time belong to another run's output, or to a --summary of the whole run.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from regatta.errors import UsageError
from regatta.review.figures import DESIGN
from regatta.review.numbers import point_of
from regatta.review.reading.block import Block, Printed
from regatta.review.reading.perf_csv import csv_line, pattern_of
from regatta.review.reading.perf_json import json_line, looks_like_json
from regatta.review.reading.perf_text import HEADER, decimals, looks_like_perf, take_apart
from regatta.review.reading.runs import Run

FORM = "perf stat -I"
LONGEST_LINE = 1000
STAMPED = re.compile(r"\s*(?P<time>\d{1,9}\.\d{9})(?:[,;|:]|\s+)(?!\s|seconds)(?P<rest>.*)")
"""`12.035832585 seconds time elapsed` is not an interval."""
STAMPED_JSON = re.compile(
    r'\s*\{\s*"interval"\s*:\s*(?P<time>\d{1,9}\.\d{1,9})\s*,(?P<rest>.*)', re.DOTALL
)
SUMMARY = re.compile(r"\s*summary[,;|:\t](?P<rest>.*)")
"""How each line of a summary begins if -x is given."""
PLACED = re.compile(r'"(?:cpu|core|die|cluster|cache|socket|node|thread|cgroup)"\s*:')
"""JSON fields of a line that counts only a part of the machine or of the program."""
BEGINS = "# started on"
"""What perf writes above each output in a file."""

Parse = Callable[[str, int], Printed | None]


@dataclass(frozen=True)
class Line:
    number: int
    ends_s: float | None
    """When its interval ended; None: it belongs to none."""
    rest: str


def read_intervals(file: str, lines: list[str], design: str) -> tuple[list[Run], list[str]]:
    """The runs printed in intervals, and all other lines, with empty lines in place of theirs.

    A run begins where time goes backwards, and after another output.
    """
    found = [taken(number, line) for number, line in enumerate(lines, start=1)]
    parse = parser(file, [line.rest for line in found if line.ends_s is not None])
    if parse is None:
        return [], lines
    keys = {DESIGN: design}  # perf says nothing of the command here
    runs = [Run(file, keys)]
    for line in found:
        # A damaged line is skipped; a later check reports what its interval lacks.
        printed = None if line.ends_s is None else parse(line.rest, line.number)
        if line.ends_s is None:
            again = begins_output(line.rest)
        else:
            again = printed is not None and line.ends_s < runs[-1].ends_s
        if again and runs[-1].parts:
            runs.append(Run(file, keys))
        if line.ends_s is not None and printed is not None:
            take(runs[-1].at(line.ends_s, line.number), line, printed, file)
    others = ["" if line.ends_s is not None else line.rest for line in found]
    return [run for run in runs if run.parts], others


def taken(number: int, line: str) -> Line:
    if len(line) <= LONGEST_LINE:
        if found := STAMPED_JSON.fullmatch(line):
            return Line(number, float(found["time"]), "{" + found["rest"])
        if found := STAMPED.fullmatch(line):
            return Line(number, float(found["time"]), found["rest"])
        if found := SUMMARY.fullmatch(line):
            return Line(number, None, found["rest"])
    return Line(number, None, line)


def parser(file: str, rests: list[str]) -> Parse | None:
    """The parser for what follows the times; None if perf did not write it."""
    if looks_like_json(rests):
        return lambda line, number: json_line(file, line, number)
    if pattern := pattern_of(rests):
        return lambda line, number: csv_line(pattern, line, number)
    if looks_like_perf(rests):
        point = point_of(decimals(rests))
        return lambda line, number: take_apart(line, number, point)
    return None


def begins_output(line: str) -> bool:
    if line.startswith(BEGINS):
        return True
    return len(line) <= LONGEST_LINE and HEADER.fullmatch(line) is not None


def take(block: Block, line: Line, printed: Printed, file: str) -> None:
    """Of an event that was requested twice, in two groups, the first is kept."""
    if printed.event and printed.event in block.events:
        if PLACED.search(line.rest):
            raise UsageError(
                f"{file}:{line.number}: {printed.event[:40]} is counted twice at "
                f"{line.ends_s:.9f} s; give one count for all CPUs (perf without -A, --per-core "
                "and the like)"
            )
        # perf computes ratios from the mean of both, as it does with -r over all runs.
        block.repeated = True
    block.take(printed)
