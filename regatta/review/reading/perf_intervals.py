"""What `perf stat -I` prints: the usual lines, each behind the time at which its interval ended.

Lines without a time are of no interval: another run's output, or a --summary of the whole run.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from regatta.errors import UsageError
from regatta.review.figures import DESIGN
from regatta.review.numbers import point_of
from regatta.review.reading.block import Printed
from regatta.review.reading.perf_csv import csv_line, pattern_of
from regatta.review.reading.perf_json import json_line, looks_like_json
from regatta.review.reading.perf_text import HEADER, decimals, looks_like_perf, take_apart
from regatta.review.reading.runs import Run

FORM = "perf stat -I"
LONGEST_LINE = 1000
STAMPED = re.compile(r"\s*(?P<time>\d{1,9}\.\d{9})(?:[,;|:]|\s+)(?!\s|seconds)(?P<rest>.*)")
"""`12.035832585 seconds time elapsed` is no interval."""
STAMPED_JSON = re.compile(
    r'\s*\{\s*"interval"\s*:\s*(?P<time>\d{1,9}\.\d{1,9})\s*,(?P<rest>.*)', re.DOTALL
)
SUMMARY = re.compile(r"\s*summary[,;|:\t](?P<rest>.*)")
"""How each line of a summary begins with -x."""
BEGINS = "# started on"
"""What perf writes over each output in a file."""

Parse = Callable[[str, int], Printed | None]


@dataclass(frozen=True)
class Line:
    number: int
    ends_s: float | None
    """When the interval ended; None: it is of none."""
    rest: str


def read_intervals(file: str, lines: list[str], design: str) -> tuple[list[Run], list[str]]:
    """The runs that are in intervals, and all other lines, with empty ones in place of theirs."""
    found = [taken(number, line) for number, line in enumerate(lines, start=1)]
    parse = parser(file, [line.rest for line in found if line.ends_s is not None])
    if parse is None:
        return [], lines
    runs: list[Run] = []
    others = ["" if line.ends_s is not None else line.rest for line in found]
    for run in split(found):
        # perf says nothing of the command here.
        begun = Run(file, {DESIGN: design})
        for line in run:
            take(begun, line, parse)
        if begun.parts:
            runs.append(begun)
    return runs, others


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
    """How what stands behind the times is read; None: perf wrote none of it."""
    if looks_like_json(rests):
        return lambda line, number: json_line(file, line, number)
    if pattern := pattern_of(rests):
        return lambda line, number: csv_line(pattern, line, number)
    if looks_like_perf(rests):
        point = point_of(decimals(rests))
        return lambda line, number: take_apart(line, number, point)
    return None


def split(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """One run after the other: where time runs back, or another output stands between."""
    run: list[Line] = []
    for line in lines:
        if line.ends_s is None:
            again = line.rest.startswith(BEGINS) or is_header(line.rest)
        else:
            again = bool(run) and line.ends_s < (run[-1].ends_s or 0)
        if again and run:
            yield run
            run = []
        if line.ends_s is not None:
            run.append(line)
    yield run


def is_header(line: str) -> bool:
    return len(line) <= LONGEST_LINE and HEADER.fullmatch(line) is not None


def take(run: Run, line: Line, parse: Parse) -> None:
    """A line that is torn is passed over; what its interval then lacks is found later."""
    printed = parse(line.rest, line.number)
    if printed is None or line.ends_s is None:
        return
    block = run.at(line.ends_s, line.number)
    if printed.event and printed.event in block.events:
        raise UsageError(
            f"{run.file}:{line.number}: {printed.event[:40]} stands twice at {line.ends_s:.9f} s; "
            "give one count for all CPUs (perf without -A, --per-core and the like)"
        )
    block.take(printed)
