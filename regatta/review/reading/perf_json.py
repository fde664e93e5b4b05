"""The output of `perf stat -j`: one line per event."""

import re

from regatta.errors import CounterError, UsageError
from regatta.machine.perf.output import parse_line, text_of
from regatta.review.figures import Reading
from regatta.review.numbers import parse_decimal
from regatta.review.reading.block import Blocks, Printed

FORM = "perf stat -j"
DECIMAL_COMMA = re.compile(r'(" *: *-?\d+),(\d)')
"""perf follows the locale even here, which is not valid JSON."""
SIX_ZEROS = re.compile(r"[.,]0{6}$")
"""How perf ends every count."""


def looks_like_json(lines: list[str]) -> bool:
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return first.lstrip().startswith("{")


def read_perf_json(file: str, lines: list[str], design: str) -> Reading:
    blocks = Blocks(file, design)
    for number, line in enumerate(lines, start=1):
        if printed := json_line(file, line, number):
            blocks.take(printed)
    return Reading(file, FORM, blocks.records())


def json_line(file: str, line: str, number: int) -> Printed | None:
    """None if the line holds no figure."""
    try:
        fields = parse_line(DECIMAL_COMMA.sub(r"\1.\2", line))
        return None if fields is None else printed_in(line, number, fields)
    except CounterError as error:
        raise UsageError(f"{file}:{number}: {error}; leave that line out") from error


def printed_in(line: str, number: int, fields: dict[str, object]) -> Printed:
    text = SIX_ZEROS.sub("", shown(fields.get("counter-value")))
    metric = shown(fields.get("metric-value"))
    running = parse_decimal(shown(fields.get("pcnt-running")))
    return Printed(
        number,
        text_of(line, fields, "event"),
        text_of(line, fields, "unit"),
        text,
        parse_decimal(text),
        text_of(line, fields, "metric-unit"),
        metric,
        parse_decimal(metric),
        "",
        running.value if running else 100.0,
        "variance" in fields,
    )


def shown(value: object) -> str:
    return "" if value is None or isinstance(value, bool | list | dict) else str(value)
