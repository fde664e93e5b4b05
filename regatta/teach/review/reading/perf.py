"""The outputs of `perf stat` in a file: a record for each run and kind of core."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from regatta.record.counters import parse_event_name
from regatta.teach.review.figures import (
    CORE,
    DESIGN,
    NUMBER,
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
TIMES = {"time elapsed": "elapsed", "sys": "system", "user": "user"}
RUNNING = re.compile(rf"\(\s*({NUMBER})\s*%\)\s*$")
SPREAD = re.compile(rf"\(\s*\+-\s*{NUMBER}\s*%\s*\)")
COUNTED = re.compile(
    rf"\s*(?P<value><not supported>|<not counted>|{NUMBER})\s+(?:(?P<unit>[mun]?sec|ns)\s+)?"
    r"(?P<event>[A-Za-z][^\s(#]*)\s*(?:\((?P<old_unit>msec)\))?\s*"
)
METRIC = re.compile(rf"\s*(?P<number>{NUMBER})\s*(?P<unit>\S.*)")
CORE_NAME = re.compile(r"\((cpu_\w+)\)\s*$")


@dataclass(frozen=True)
class Printed:
    """A line of perf's output, taken apart; what is missing is empty."""

    line: int
    value: str
    unit: str
    event: str
    core: str
    metric: str
    metric_unit: str
    running: float
    spread: bool

    @property
    def key(self) -> tuple[str, str]:
        """A metric of a new name needs the counts of its event again."""
        return self.event, self.metric_unit if self.metric_unit in NEW_METRICS else ""


def printed_in(line: str, number: int) -> Printed | None:
    """None if perf prints no such line."""
    spread, line = SPREAD.search(line), SPREAD.sub("", line)
    share = RUNNING.search(line)
    left, mark, right = (line[: share.start()] if share else line).partition("#")
    core, counted = CORE_NAME.search(left), COUNTED.fullmatch(left)
    metric = METRIC.fullmatch(right) if mark else None
    if counted is None and metric is None:
        return None
    running = parse_decimal(share[1]) if share else None
    value, unit, event, old_unit = counted.groups("") if counted else ("", "", "", "")
    return Printed(
        number,
        value,
        unit or old_unit,
        event,
        core[1] if core else "",
        metric["number"] if metric else "",
        " ".join(metric["unit"].split()) if metric else "",
        running.value if running else 100.0,
        spread is not None,
    )


def is_known(line: str) -> bool:
    """Whether it counts an event that only perf names so."""
    printed = printed_in(line, 0)
    return printed is not None and parse_event_name(printed.event).name in EVENTS


def decimals(lines: Sequence[str]) -> Iterator[str]:
    """The numbers that have decimals in every locale."""
    for line in lines:
        if time := TIME.fullmatch(line):
            yield time["number"]
        elif (counted := COUNTED.match(line)) and counted["unit"]:
            yield counted["value"]


@dataclass
class Block:
    """One output of perf while it is read."""

    file: str
    line: int
    keys: Mapping[str, str]
    point: str
    """The decimal mark of the file."""
    repeated: bool = False
    events: set[tuple[str, str]] = field(default_factory=set)  # also those without a value
    figures: dict[tuple[str, str], ReportedFigure] = field(default_factory=dict)
    """By kind of core, empty if perf does not tell, and name."""
    core: str = ""  # of the last line: metrics with a line of their own belong to it

    def add(self, core: str, figure: ReportedFigure) -> None:
        """Keeps the first figure of a name, such as that of cycles before cycles:u."""
        self.figures.setdefault((core, figure.name), figure)

    def take_time(self, time: re.Match[str], line: int) -> None:
        self.repeated |= time["spread"] is not None
        if seconds := parse_decimal(time["number"]):
            quantity = Quantity(TIMES[time["what"]], 1, "s")
            self.add("", figure_of(quantity, seconds, time["number"], line))

    def take(self, printed: Printed) -> bool:
        """Whether all of its numbers could be read."""
        event = parse_event_name(printed.event)
        name = EVENTS.get(event.name, printed.event)
        self.line = self.line or printed.line
        self.core = printed.core or event.pmu or ("" if printed.event else self.core)
        self.repeated |= printed.spread
        self.events.add(printed.key)
        read = parse_decimal if printed.unit else lambda text: parse_number(text, self.point)
        if value := read(printed.value):
            # perf without `msec` prints milliseconds with decimals, or whole nanoseconds.
            bare = ("ms" if value.decimals else "ns") if name in CLOCKS else ""
            unit = printed.unit or bare
            figure = figure_of(
                Quantity(name, SECONDS.get(unit, 1.0), unit), value, printed.value, printed.line
            )
            counted = replace(figure, running=printed.running, user_only=event.user_only)
            self.add(self.core, counted)
        metric, number = metric_of(printed.metric_unit, name), parse_decimal(printed.metric)
        if metric is not None and number is not None:
            self.add(self.core, figure_of(metric, number, printed.metric, printed.line))
        return value is not None or not printed.value[:1].isdigit()

    def records(self) -> Iterator[Record]:
        cores = list(dict.fromkeys(core for core, _ in self.figures if core))
        for core in cores if len(cores) > 1 else [""]:
            # Rates and GHz of every kind use the same clock; other common figures belong to one.
            figures = {
                name: figure
                for (on, name), figure in self.figures.items()
                if len(cores) < 2 or on == core or (not on and (core == cores[0] or name in CLOCKS))
            }
            if figures:
                line = self.line or next(iter(figures.values())).line
                keys = {**self.keys, **({CORE: core} if core else {})}
                yield Record(self.file, line, keys, figures, self.repeated)


def read_outputs(file: str, lines: Sequence[str]) -> Reading | None:
    """Skips lines that are not perf's, as a report has prose between its figures."""
    short = [(at, line) for at, line in enumerate(lines, start=1) if len(line) <= LONGEST_LINE]
    if not any(
        HEADER.fullmatch(line) or TIME.fullmatch(line) or is_known(line) for _, line in short
    ):
        return None
    blocks = [Block(file, 0, {DESIGN: ""}, point_of(decimals([line for _, line in short])))]
    taken = set()
    for number, line in short:
        last = blocks[-1]
        is_read = True
        if header := HEADER.fullmatch(line):
            keys = {DESIGN: header["what"].strip().strip("'\u2018\u2019\"")}
            blocks.append(Block(file, number, keys, last.point, header["runs"] is not None))
        elif time := TIME.fullmatch(line):
            last.take_time(time, number)
        # An unknown event counts as perf's only among perf's lines.
        elif (last.figures or last.line or is_known(line)) and (
            printed := printed_in(line, number)
        ):
            if printed.event and printed.key in last.events:
                blocks.append(Block(file, number, last.keys, last.point))
            is_read = blocks[-1].take(printed)
        else:
            continue
        taken |= {number} if is_read else set()
    records = tuple(record for block in blocks for record in block.records())
    return Reading(file, "perf stat", records, frozenset(taken))
