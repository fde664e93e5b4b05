"""The outputs of `perf stat` in a file: a record for each run, kind of core and part counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from regatta.ledger.event_names import parse_event_name
from regatta.review.figures import CORE, DESIGN, PART, Figure, Reading, Record, figure_of
from regatta.review.names import CLOCKS, EVENTS, NEW_METRICS, SECONDS, Quantity, metric_of
from regatta.review.numbers import parse_decimal
from regatta.review.reading.perf_line import HEADER, LONGEST_LINE, TIME, Printed, form_of, is_known

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
    figures: dict[tuple[On, str], Figure] = field(default_factory=dict)
    core: str = ""  # of the last line: metrics with a line of their own belong to it

    def has(self, printed: Printed) -> bool:
        """Whether this event came before; a metric of another name needs its counts again."""
        return bool(printed["event"]) and event_key(printed) in self.events

    def add(self, on: On, figure: Figure) -> None:
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
        own: dict[On, list[Figure]] = {on: [] for on in (ALL, *places)}
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
