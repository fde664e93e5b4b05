"""One line of `perf stat`, as text, with -x and with -j, becomes the same record."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from regatta.errors import CounterError, UsageError
from regatta.machine.perf.output import parse_line, text_of
from regatta.review.names import event_of
from regatta.review.numbers import NUMBER, Number, parse_decimal, parse_number, point_of

LONGEST_LINE = 1000
HEADER = re.compile(
    r"\s*Performance counter stats for (?P<what>.*?)(?: \((?P<runs>\d+) runs\))?:\s*"
)
TIME = re.compile(
    rf"\s*(?P<number>{NUMBER})(?P<spread>\s*\+-\s*{NUMBER})?\s+seconds\s+"
    r"(?P<what>time elapsed|user|sys)\b.*"
)
RUNNING = re.compile(rf"\(\s*({NUMBER})\s*%\)\s*$")
SPREAD = re.compile(rf"\(\s*\+-\s*{NUMBER}\s*%\s*\)")
COUNTED = re.compile(
    rf"\s*(?P<value><not supported>|<not counted>|{NUMBER})\s+(?:(?P<unit>[mun]?sec|ns)\s+)?"
    r"(?P<event>[A-Za-z][^\s(#]*)\s*(?:\((?P<old_unit>msec)\))?\s*"
)
METRIC = re.compile(rf"\s*(?P<number>{NUMBER})\s*(?P<unit>\S.*)")
CORE = re.compile(r"\((cpu_\w+)\)\s*$")
PART = r"CPU\d+|[SN]\d+(?:-[A-Z]+\d+)*"
"""How lines of -A, --per-core, --per-socket and the like begin, before a number of CPUs."""
ON_PART = re.compile(rf"\s*(?P<part>{PART})\s+(?:\d+\s{{2,}})?(?=[\d<])(?P<rest>.*)")
SEPARATORS = ",;\t|:"
DECIMAL = r"\d+(?:[.,]\d+)?"
SEPARATED = {
    mark: re.compile(
        rf"(?:(?P<part>{PART}){re.escape(mark)}(?:\d+{re.escape(mark)}(?=[\d<]))?)?"
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
DECIMAL_COMMA = re.compile(r'(" *: *-?\d+),(\d)')
"""perf follows the locale even in JSON, which is then not valid."""
SIX_ZEROS = re.compile(r"[.,]0{6}$")
"""How perf ends every count in JSON."""
PARTS = ("cpu", "core", "die", "cluster", "cache", "socket", "node", "thread", "cgroup")
"""JSON fields of a line that counts only a part of the machine or of the program."""


@dataclass(frozen=True)
class Printed:
    """One line of perf's output in any form; a missing text is empty, a missing number None."""

    line: int
    event: str = ""
    unit: str = ""
    text: str = ""
    value: Number | None = None
    metric_unit: str = ""
    metric_text: str = ""
    metric: Number | None = None
    core: str = ""
    running: float = 100.0
    spread: bool = False
    part: str = ""


@dataclass(frozen=True)
class Form:
    """How perf wrote a file: its name in words, and what takes a line of it apart."""

    name: str
    parse: Callable[[str, int], Printed | None]


def form_of(file: str, lines: Sequence[str]) -> Form | None:
    """None if perf did not write these lines."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    if first.lstrip().startswith("{"):
        return Form("perf stat -j", partial(json_line, file))
    short = [line for line in lines if len(line) <= LONGEST_LINE]
    for line in short:
        for pattern in SEPARATED.values():
            if pattern.fullmatch(line.strip()):
                return Form("perf stat -x", partial(csv_line, pattern))
    if any(HEADER.fullmatch(line) or TIME.fullmatch(line) or is_known(line) for line in short):
        return Form("perf stat", partial(text_line, point_of(decimals(short))))
    return None


def is_known(line: str) -> bool:
    """Whether it counts an event that only perf names so."""
    printed = text_line(".", line, 0)
    return printed is not None and bool(printed.event) and event_of(printed.event).known


def decimals(lines: Sequence[str]) -> Iterator[str]:
    """The numbers that have decimals in every locale."""
    for line in lines:
        if time := TIME.fullmatch(line):
            yield time["number"]
        elif (counted := COUNTED.match(line)) and counted["unit"]:
            yield counted["value"]


def text_line(point: str, line: str, number: int) -> Printed | None:
    """None if perf prints no such line. `point`: the decimal mark of this file."""
    if len(line) > LONGEST_LINE:
        return None
    spread, line = SPREAD.search(line) is not None, SPREAD.sub("", line)
    share = RUNNING.search(line)
    line = line[: share.start()] if share else line
    left, mark, right = line.partition("#")
    on_part = ON_PART.fullmatch(left)
    counted = COUNTED.fullmatch(on_part["rest"] if on_part else left)
    metric = METRIC.fullmatch(right) if mark else None
    if counted is None and metric is None:
        return None
    text = counted["value"] if counted else ""
    unit = (counted["unit"] or counted["old_unit"] or "") if counted else ""
    core = CORE.search(left)
    return Printed(
        number,
        counted["event"] if counted else "",
        unit,
        text,
        parse_decimal(text) if unit else parse_number(text, point),
        metric["unit"] if metric else "",
        metric["number"] if metric else "",
        parse_decimal(metric["number"]) if metric else None,
        core[1] if core else "",
        percent(share[1] if share else ""),
        spread,
        on_part["part"] if on_part else "",
    )


def percent(text: str) -> float:
    found = parse_decimal(text)
    return found.value if found else 100.0


def csv_line(pattern: re.Pattern[str], line: str, number: int) -> Printed | None:
    found = pattern.fullmatch(line.strip()) if len(line) <= LONGEST_LINE else None
    if found is None:
        return None
    # With decimal commas perf 6.1 truncates metrics at the comma: 0,74 is printed as 0.
    metric = found["metric"] if found["metric"] and not found["metric"].isdecimal() else ""
    return Printed(
        number,
        found["event"],
        found["unit"],
        found["value"],
        parse_decimal(found["value"]),
        found["metric_unit"] or "",
        metric,
        parse_decimal(metric),
        "",
        percent(found["running"]),
        found["spread"] is not None,
        found["part"] or "",
    )


def json_line(file: str, line: str, number: int) -> Printed | None:
    """None if the line holds no figure."""
    try:
        fields = parse_line(DECIMAL_COMMA.sub(r"\1.\2", line))
        if fields is None:
            return None
        event, unit, metric_unit = (
            text_of(line, fields, name) for name in ("event", "unit", "metric-unit")
        )
    except CounterError as error:
        raise UsageError(f"{file}:{number}: {error}; leave that line out") from error
    text, metric = SIX_ZEROS.sub("", shown(fields, "counter-value")), shown(fields, "metric-value")
    return Printed(
        number,
        event,
        unit,
        text,
        parse_decimal(text),
        metric_unit,
        metric,
        parse_decimal(metric),
        "",
        percent(shown(fields, "pcnt-running")),
        "variance" in fields,
        " ".join(f"{name} {shown(fields, name)}" for name in PARTS if name in fields),
    )


def shown(fields: dict[str, object], name: str) -> str:
    value = fields.get(name)
    return "" if value is None or isinstance(value, bool | list | dict) else str(value)
