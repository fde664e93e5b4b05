"""The outputs of `perf stat` in a file, as text, with -x and with -j: a record for each run, kind
of core and part counted.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from regatta.errors import CounterError, UsageError
from regatta.record.counters import parse_event_name
from regatta.record.perf_output import parse_line, text_of
from regatta.teach.review.figures import (
    CORE,
    DESIGN,
    NUMBER,
    PART,
    Number,
    Reading,
    Record,
    ReportedFigure,
    figure_of,
    parse_decimal,
    parse_number,
    point_of,
)
from regatta.teach.review.names import CLOCKS, EVENTS, NEW_METRICS, SECONDS, Quantity, metric_of

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
CORE_NAME = re.compile(r"\((cpu_\w+)\)\s*$")
PART_NAME = r"CPU\d+|[SN]\d+(?:-[A-Z]+\d+)*"
"""How lines of -A, --per-core, --per-socket and the like begin, before a number of CPUs."""
ON_PART = re.compile(rf"\s*(?P<part>{PART_NAME})\s+(?:\d+\s{{2,}})?(?=[\d<])(?P<rest>.*)")
DECIMAL = r"\d+(?:[.,]\d+)?"
SEPARATED = [
    re.compile(
        rf"(?:(?P<part>{PART_NAME}){mark}(?:\d+{mark}(?=[\d<]))?)?"
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
    on_part, core = ON_PART.fullmatch(left), CORE_NAME.search(left)
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


On = tuple[str, str]
"""A part of the machine and a kind of core; empty if the output does not tell them apart."""
ALL: On = ("", "")


@dataclass
class Block:
    """One output of perf while it is read."""

    file: str
    line: int
    keys: Mapping[str, str]
    repeated: bool = False
    events: set[tuple[str, ...]] = field(default_factory=set)  # also those without a value
    figures: dict[tuple[On, str], ReportedFigure] = field(default_factory=dict)
    core: str = ""  # of the last line: metrics with a line of their own belong to it

    def has(self, printed: Printed) -> bool:
        """Whether this event came before; a metric of another name needs its counts again."""
        return bool(printed["event"]) and event_key(printed) in self.events

    def add(self, on: On, figure: ReportedFigure) -> None:
        """Keeps the first figure of a name, such as that of cycles before cycles:u."""
        self.figures.setdefault((on, figure.name), figure)

    def take(self, printed: Printed) -> None:
        event = parse_event_name(printed["event"])
        name = EVENTS.get(event.name, printed["event"])
        self.core = printed["core"] or event.pmu or ("" if printed["event"] else self.core)
        on = printed["part"], self.core
        self.repeated |= printed.spread
        self.events.add(event_key(printed))
        if printed.value is not None:
            # perf without `msec` prints milliseconds with decimals, or whole nanoseconds.
            bare = ("ms" if printed.value.decimals else "ns") if name in CLOCKS else ""
            unit = printed["unit"] or bare
            quantity = Quantity(name, SECONDS.get(unit, 1.0), unit)
            figure = figure_of(quantity, printed.value, printed["value"], printed.line)
            self.add(on, replace(figure, running=printed.running, user_only=event.user_only))
        metric, number = metric_of(printed["metric_unit"], name), parse_decimal(printed["metric"])
        if metric is not None and number is not None:
            self.add(on, figure_of(metric, number, printed["metric"], printed.line))

    def records(self) -> list[Record]:
        places = list(dict.fromkeys(on for on, _ in self.figures if any(on)))
        own: dict[On, list[ReportedFigure]] = {on: [] for on in (ALL, *places)}
        for (on, _), figure in self.figures.items():
            own[on if len(places) > 1 else ALL].append(figure)
        if len(places) < 2:
            own = {on: figures for on, figures in own.items() if on == ALL}
        common = own.pop(ALL) if len(places) > 1 else []
        found: list[Record] = []
        for (part, core), figures in own.items():
            # Rates and GHz of every kind use the same clock; other common figures belong to one.
            shared = [
                one
                for one in common
                if (not part and not found) or one.name in (("elapsed",) if part else CLOCKS)
            ]
            if named := {one.name: one for one in (*shared, *figures)}:
                keys = {**self.keys, **{k: v for k, v in ((PART, part), (CORE, core)) if v}}
                line = self.line or next(iter(named.values())).line
                found.append(Record(self.file, line, keys, named, self.repeated))
        return found


def event_key(printed: Printed) -> tuple[str, ...]:
    unit = " ".join(printed["metric_unit"].split())
    return printed["part"], printed["event"], unit if unit in NEW_METRICS else ""


def read_outputs(file: str, lines: Sequence[str], design: str = "") -> Reading | None:
    """Skips lines that are not perf's, as a report has prose between its figures."""
    form = form_of(file, lines)
    if form is None:
        return None
    (name, parse), taken = form, set()
    blocks = [Block(file, 0, {DESIGN: "" if name == "perf stat" else design})]
    for number, line in enumerate(lines, start=1):
        last, is_text = blocks[-1], name == "perf stat" and len(line) <= LONGEST_LINE
        if is_text and (header := HEADER.fullmatch(line)):
            what = header["what"].strip().strip("'\u2018\u2019\"")
            blocks.append(Block(file, number, {DESIGN: what}, header["runs"] is not None))
        elif is_text and (time := TIME.fullmatch(line)):
            name_of_time = {"time elapsed": "elapsed", "sys": "system"}.get(time["what"], "user")
            if seconds := parse_decimal(time["number"]):
                quantity = Quantity(name_of_time, 1, "s")
                last.add(ALL, figure_of(quantity, seconds, time["number"], number))
            last.repeated |= time["spread"] is not None
        # An unknown event counts as perf's only among perf's lines.
        elif name == "perf stat" and not (last.figures or last.line or is_known(line)):
            continue
        elif printed := parse(line, number):
            if last.has(printed):
                blocks.append(Block(file, number, last.keys))
            blocks[-1].line = blocks[-1].line or number
            blocks[-1].take(printed)
            if printed.value is None and printed["value"][:1].isdigit():
                continue  # a number of no locale
        else:
            continue
        taken.add(number)
    records = tuple(record for block in blocks for record in block.records())
    return Reading(file, name, records, frozenset(taken))
