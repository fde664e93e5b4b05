"""The output of `perf stat -x,`: one line per event, fields in the order of its manual."""

import re
from collections.abc import Sequence

from regatta.review.figures import Reading
from regatta.review.numbers import parse_decimal
from regatta.review.reading.block import Blocks, Printed

FORM = "perf stat -x"
LONGEST_LINE = 1000
SEPARATORS = ",;\t|:"
DECIMAL = r"\d+(?:[.,]\d+)?"
LINES = {
    mark: re.compile(
        rf"(?P<value><not supported>|<not counted>|{DECIMAL}){re.escape(mark)}"
        rf"(?P<unit>[A-Za-z]*){re.escape(mark)}"
        rf"(?P<event>[A-Za-z_][^{re.escape(mark)}/]*(?:/[^/]*/\w*)?){re.escape(mark)}"
        # With -r, the spread of the runs comes in between.
        rf"(?:(?P<spread>{DECIMAL}%){re.escape(mark)})?"
        rf"(?P<nanoseconds>\d+){re.escape(mark)}(?P<running>\d+[.,]\d\d)"
        rf"(?:{re.escape(mark)}(?P<metric>{DECIMAL})?{re.escape(mark)}(?P<metric_unit>.*))?"
    )
    for mark in SEPARATORS
}
"""By field separator. perf writes decimal commas if the locale has them, even with -x,."""


def pattern_of(lines: Sequence[str]) -> re.Pattern[str] | None:
    """The pattern of this file's lines; None if perf did not write them."""
    for line in lines:
        for pattern in LINES.values():
            if len(line) <= LONGEST_LINE and pattern.fullmatch(line.strip()):
                return pattern
    return None


def read_perf_csv(
    file: str, lines: Sequence[str], pattern: re.Pattern[str], design: str
) -> Reading:
    blocks = Blocks(file, design)
    for number, line in enumerate(lines, start=1):
        if printed := csv_line(pattern, line, number):
            blocks.take(printed)
    return Reading(file, FORM, blocks.records())


def csv_line(pattern: re.Pattern[str], line: str, number: int) -> Printed | None:
    found = pattern.fullmatch(line.strip()) if len(line) <= LONGEST_LINE else None
    return printed_in(found, number) if found else None


def printed_in(found: re.Match[str], line: int) -> Printed:
    # With decimal commas perf 6.1 truncates metrics at the comma: 0,74 is printed as 0.
    metric = found["metric"] if found["metric"] and not found["metric"].isdecimal() else ""
    running = parse_decimal(found["running"])
    return Printed(
        line,
        found["event"],
        found["unit"],
        found["value"],
        parse_decimal(found["value"]),
        found["metric_unit"] or "",
        metric,
        parse_decimal(metric),
        "",
        running.value if running else 100.0,
        found["spread"] is not None,
    )
