"""One output of perf while it is read, and its records: one for each kind of core."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from regatta.review.figures import CORE, DESIGN, Figure, Record
from regatta.review.names import CLOCKS, SECONDS, Quantity, event_of, metric_of
from regatta.review.numbers import Number
from regatta.review.reading.to_figure import figure_of


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


@dataclass
class Block:
    file: str
    line: int
    keys: Mapping[str, str]
    repeated: bool = False
    events: set[str] = field(default_factory=set)
    """By perf's names, also those without a value."""
    figures: dict[tuple[str, str], Figure] = field(default_factory=dict)
    """By kind of core (empty if there is only one kind) and name."""

    def add(self, core: str, figure: Figure) -> None:
        """Keeps the first figure of a name, such as that of cycles before cycles:u."""
        self.figures.setdefault((core, figure.name), figure)

    def take(self, printed: Printed) -> None:
        event = event_of(printed.event)
        core = printed.core or event.core
        self.repeated |= printed.spread
        self.events.add(printed.event)
        if printed.value is not None:
            quantity = Quantity(event.name, SECONDS.get(printed.unit, 1.0), printed.unit)
            figure = figure_of(quantity, printed.value, printed.text, printed.line)
            self.add(core, replace(figure, running=printed.running, user_only=event.user_only))
        metric = metric_of(printed.metric_unit, event.name)
        if metric is not None and printed.metric is not None:
            self.add(core, figure_of(metric, printed.metric, printed.metric_text, printed.line))

    @property
    def cores(self) -> list[str]:
        return list(dict.fromkeys(core for core, _ in self.figures if core))

    def records(self, cores: Sequence[str] = ()) -> list[Record]:
        """`cores`: the kinds in the whole run; in this part some may have run nothing."""
        if len(cores or self.cores) < 2:
            return [self._record(self.keys, list(self.figures.values()))] if self.figures else []
        own: dict[str, list[Figure]] = {core: [] for core in ("", *(cores or self.cores))}
        for (core, _), figure in self.figures.items():
            own[core].append(figure)
        common = own.pop("")
        clocks = [figure for figure in common if figure.name in CLOCKS]
        found: list[Record] = []
        for core, figures in own.items():
            # Rates and GHz of every kind use the same clock; other common figures belong to one.
            shared = clocks if found else common
            if shared or figures:
                found.append(self._record({**self.keys, CORE: core}, [*shared, *figures]))
        return found

    def _record(self, keys: Mapping[str, str], figures: list[Figure]) -> Record:
        named = {figure.name: figure for figure in figures}
        line = self.line or figures[0].line
        return Record(self.file, line, keys, named, self.repeated)


class Blocks:
    """The outputs of perf in one file, in order."""

    def __init__(self, file: str, design: str = "") -> None:
        self._file = file
        self._blocks = [Block(file, 0, {DESIGN: design})]

    @property
    def last(self) -> Block:
        return self._blocks[-1]

    def begin(self, line: int, keys: Mapping[str, str]) -> Block:
        self._blocks.append(Block(self._file, line, keys))
        return self.last

    def take(self, printed: Printed) -> None:
        """An event that appears again begins another run of the same design."""
        if printed.event and printed.event in self.last.events:
            self.begin(printed.line, self.last.keys)
        self.last.line = self.last.line or printed.line
        self.last.take(printed)

    def records(self) -> tuple[Record, ...]:
        return tuple(record for block in self._blocks for record in block.records())
