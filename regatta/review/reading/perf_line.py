"""One line of `perf stat`, as text, with -x and with -j, becomes the same record."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from regatta.errors import CounterError, UsageError
from regatta.ledger.event_names import parse_event_name
from regatta.ledger.perf_output import parse_line, text_of
from regatta.review.names import EVENTS
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
DECIMAL = r"\d+(?:[.,]\d+)?"
SEPARATED = [
    re.compile(
        rf"(?:(?P<part>{PART}){mark}(?:\d+{mark}(?=[\d<]))?)?"
        rf"(?P<value><not supported>|<not counted>|{DECIMAL}){mark}(?P<unit>[A-Za-z]*){mark}"
        rf"(?P<event>[A-Za-z_][^{mark}/]*(?:/[^/]*/\w*)?){mark}"
        # With -r, the spread of the runs comes in between.
        rf"(?:(?P<spread>{DECIMAL}%){mark})?(?P<nanoseconds>\d+){mark}(?P<running>\d+[.,]\d\d)"
        rf"(?:{mark}(?P<metric>{DECIMAL})?{mark}(?P<metric_unit>.*))?"
    )
    for mark in map(re.escape, ",;\t|:")
]
"""By field separator. perf writes decimal commas if the locale has them, even with -x,."""
DECIMAL_COMMA = re.compile(r'(" *: *-?\d+),(\d)')
"""perf follows the locale even in JSON, which is then not valid."""
SIX_ZEROS = re.compile(r"[.,]0{6}$")  # how perf ends every count in JSON
PARTS = ("cpu", "core", "die", "cluster", "cache", "socket", "node", "thread", "cgroup")
"""JSON fields of a line that counts only a part of the machine or of the program."""


@dataclass(frozen=True)
class Printed:
    """One line of perf's output in any form; what is missing is empty."""

    line: int
    fields: dict[str, str]
    value: Number | None
    spread: bool = False

    def __getitem__(self, name: str) -> str:
        return self.fields.get(name) or ""

    @property
    def running(self) -> float:
        found = parse_decimal(self["running"])
        return found.value if found else 100.0


Parse = Callable[[str, int], Printed | None]


def form_of(file: str, lines: Sequence[str]) -> tuple[str, Parse] | None:
    """How perf wrote these lines, and what takes one apart; None if it did not write them."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    if first.lstrip().startswith("{"):
        return "perf stat -j", partial(json_line, file)
    short = [line for line in lines if len(line) <= LONGEST_LINE]
    for line in short:
        for pattern in SEPARATED:
            if pattern.fullmatch(line.strip()):
                return "perf stat -x", partial(csv_line, pattern)
    if any(HEADER.fullmatch(line) or TIME.fullmatch(line) or is_known(line) for line in short):
        return "perf stat", partial(text_line, point_of(decimals(short)))
    return None


def is_known(line: str) -> bool:
    """Whether it counts an event that only perf names so."""
    printed = text_line(".", line, 0)
    return printed is not None and parse_event_name(printed["event"]).name in EVENTS


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
    left, mark, right = (line[: share.start()] if share else line).partition("#")
    on_part, core = ON_PART.fullmatch(left), CORE.search(left)
    counted = COUNTED.fullmatch(on_part["rest"] if on_part else left)
    metric = METRIC.fullmatch(right) if mark else None
    if counted is None and metric is None:
        return None
    fields = counted.groupdict() if counted else {}
    fields |= {"core": core[1] if core else "", "running": share[1] if share else ""}
    fields |= {"metric": metric["number"], "metric_unit": metric["unit"]} if metric else {}
    fields |= {"part": on_part["part"]} if on_part else {}
    fields["unit"] = fields.get("unit") or fields.get("old_unit") or ""
    text = fields.get("value") or ""
    value = parse_decimal(text) if fields["unit"] else parse_number(text, point)
    return Printed(number, fields, value, spread)


def csv_line(pattern: re.Pattern[str], line: str, number: int) -> Printed | None:
    found = pattern.fullmatch(line.strip()) if len(line) <= LONGEST_LINE else None
    if found is None:
        return None
    fields = found.groupdict()
    # With decimal commas perf 6.1 truncates metrics at the comma: 0,74 is printed as 0.
    if (fields["metric"] or "").isdecimal():
        fields["metric"] = ""
    return Printed(number, fields, parse_decimal(fields["value"]), bool(fields["spread"]))


def json_line(file: str, line: str, number: int) -> Printed | None:
    """None if the line holds no figure."""
    try:
        read = parse_line(DECIMAL_COMMA.sub(r"\1.\2", line))
        if read is None:
            return None
        if "interval" in read:
            raise CounterError("an interval of perf stat -I is only a part of a run")
        for name in ("event", "unit", "metric-unit"):
            text_of(line, read, name)
    except CounterError as error:
        raise UsageError(f"{file}:{number}: {error}; leave that line out") from error
    fields = {
        name: "" if value is None or isinstance(value, bool | list | dict) else str(value)
        for name, value in read.items()
    }
    fields["value"] = SIX_ZEROS.sub("", fields.get("counter-value", ""))
    for name, key in {"metric": "metric-value", "running": "pcnt-running"}.items():
        fields[name] = fields.get(key, "")
    fields["metric_unit"] = fields.get("metric-unit", "")
    fields["part"] = " ".join(f"{name} {fields[name]}" for name in PARTS if name in fields)
    fields["core"] = ""  # the field of that name is a part of the machine
    return Printed(number, fields, parse_decimal(fields["value"]), "variance" in fields)
