"""The outputs of `perf stat` in a file: a record for each run and kind of core."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from regatta.review.figures import CORE, DESIGN, PART, Figure, Reading, Record, figure_of
from regatta.review.names import (
    CLOCKS,
    ELAPSED,
    NEW_METRICS,
    SECONDS,
    SYSTEM,
    USER,
    Quantity,
    event_of,
    metric_of,
)
from regatta.review.numbers import parse_decimal
from regatta.review.reading.perf_line import HEADER, LONGEST_LINE, TIME, Printed, form_of, is_known

TIMES = {"time elapsed": ELAPSED, "user": USER, "sys": SYSTEM}
On = tuple[str, str]
"""A part of the machine and a kind of core; empty if the output does not tell them apart."""


@dataclass
class Block:
    """One output of perf while it is read."""

    file: str
    line: int
    keys: Mapping[str, str]
    repeated: bool = False
    events: set[tuple[str, ...]] = field(default_factory=set)
    """By perf's names, also those without a value."""
    figures: dict[tuple[On, str], Figure] = field(default_factory=dict)
    core: str = ""
    """That of the last line: metrics that need a line of their own belong to it."""

    def has(self, printed: Printed) -> bool:
        """Whether this event came before; a metric of another name needs its counts again."""
        return bool(printed.event) and event_key(printed) in self.events

    def add(self, on: On, figure: Figure) -> None:
        """Keeps the first figure of a name, such as that of cycles before cycles:u."""
        self.figures.setdefault((on, figure.name), figure)

    def take(self, printed: Printed) -> None:
        event = event_of(printed.event)
        self.core = printed.core or event.core or ("" if printed.event else self.core)
        on = printed.part, self.core
        self.repeated |= printed.spread
        self.events.add(event_key(printed))
        if printed.value is not None:
            # perf without `msec` prints milliseconds with decimals, or whole nanoseconds.
            unit = printed.unit
            if event.name in CLOCKS and not unit:
                unit = "ms" if printed.value.decimals else "ns"
            quantity = Quantity(event.name, SECONDS.get(unit, 1.0), unit)
            figure = figure_of(quantity, printed.value, printed.text, printed.line)
            self.add(on, replace(figure, running=printed.running, user_only=event.user_only))
        metric = metric_of(printed.metric_unit, event.name)
        if metric is not None and printed.metric is not None:
            self.add(on, figure_of(metric, printed.metric, printed.metric_text, printed.line))

    @property
    def places(self) -> list[On]:
        return list(dict.fromkeys(on for on, _ in self.figures if any(on)))

    def records(self, places: Sequence[On] = ()) -> list[Record]:
        """`places`: those of the whole run; in this part of it some may have run nothing."""
        if len(places or self.places) < 2:
            return [self._record(self.keys, list(self.figures.values()))] if self.figures else []
        own: dict[On, list[Figure]] = {on: [] for on in (("", ""), *(places or self.places))}
        for (on, _), figure in self.figures.items():
            own[on].append(figure)
        common = own.pop(("", ""))
        clocks = [figure for figure in common if figure.name in CLOCKS]
        elapsed = [figure for figure in common if figure.name == ELAPSED]
        found: list[Record] = []
        for (part, core), figures in own.items():
            # Rates and GHz of every kind use the same clock; other common figures belong to one.
            shared = elapsed if part else clocks if found else common
            if shared or figures:
                keys = {**self.keys, **({PART: part} if part else {})}
                keys |= {CORE: core} if core else {}
                found.append(self._record(keys, [*shared, *figures]))
        return found

    def _record(self, keys: Mapping[str, str], figures: list[Figure]) -> Record:
        named = {figure.name: figure for figure in figures}
        return Record(self.file, self.line or figures[0].line, keys, named, self.repeated)


def event_key(printed: Printed) -> tuple[str, ...]:
    unit = " ".join(printed.metric_unit.split())
    return printed.part, printed.event, unit if unit in NEW_METRICS else ""


def read_outputs(file: str, lines: Sequence[str], design: str = "") -> Reading | None:
    """Skips lines that are not perf's, as a report has prose between its figures."""
    form = form_of(file, lines)
    if form is None:
        return None
    is_text, taken = form.name == "perf stat", set()
    blocks = [Block(file, 0, {DESIGN: "" if is_text else design})]
    for number, line in enumerate(lines, start=1):
        short = is_text and len(line) <= LONGEST_LINE
        if header := HEADER.fullmatch(line) if short else None:
            what = header["what"].strip().strip("'\u2018\u2019\"")
            blocks.append(Block(file, number, {DESIGN: what}, header["runs"] is not None))
        elif time := TIME.fullmatch(line) if short else None:
            read_time(time, number, blocks[-1])
        # An unknown event counts as perf's only among perf's lines.
        elif is_text and not (blocks[-1].figures or blocks[-1].line or (short and is_known(line))):
            continue
        elif printed := form.parse(line, number):
            if blocks[-1].has(printed):
                blocks.append(Block(file, number, blocks[-1].keys))
            blocks[-1].line = blocks[-1].line or number
            blocks[-1].take(printed)
        else:
            continue
        taken.add(number)
    records = tuple(record for block in blocks for record in block.records())
    return Reading(file, form.name, records, frozenset(taken))


def read_time(time: re.Match[str], line: int, block: Block) -> None:
    number = parse_decimal(time["number"])
    if number is not None:
        quantity = Quantity(TIMES[time["what"]], 1, "s")
        block.add(("", ""), figure_of(quantity, number, time["number"], line))
    block.repeated |= time["spread"] is not None
