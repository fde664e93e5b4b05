"""The display of a race: none, live on a terminal, or one line an event on stderr."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from regatta.judge.power import quick_standings
from regatta.measure.race.events import (
    About,
    Display,
    Event,
    Finished,
    Pausing,
    RaceNote,
    Searched,
    Searching,
    SearchStarted,
    SittingStarted,
    Started,
    TrialDisturbed,
    TrialFinished,
    TrialStarted,
)
from regatta.record.cell import AXES, choose_axis
from regatta.record.schema import FILE_NAME
from regatta.record.study.cpus import cpus_text
from regatta.show.text import duration
from regatta.verbs.output import Output, say


def heading(event: Started) -> str:
    sittings = f" in {event.sittings} sittings" if event.sittings > 1 else ""
    return f"{which(event.about)}: {event.trials} trials{sittings}, {where(event.about)}"


def search_heading(event: SearchStarted) -> str:
    return (
        f"{which(event.about)}: search for the highest rate of {event.contenders} contenders, "
        f"in {event.blocks} blocks, {where(event.about)}"
    )


def which(about: About) -> str:
    return f"{about.title} ({about.name}, seed {about.seed})"


def where(about: About) -> str:
    return (
        f"{about.placement}, server on {cpus_text(about.server_cpus)}, "
        f"client on {cpus_text(about.client_cpus)}"
    )


def searched(event: Searched) -> str:
    return f"block {event.block} of {event.blocks}, {event.cell.label()}: {event.says}"


def sitting(event: SittingStarted | Pausing) -> str:
    """The sitting that begins, or the pause before it."""
    if isinstance(event, Pausing):
        return (
            f"sitting {event.next_sitting} begins in {duration(event.pause_s)}; or stop with "
            "Ctrl-C and continue with --resume at any time"
        )
    linked = "as built" if event.link_order is None else f"{event.link_order}"
    return (
        f"sitting {event.number} of {event.of}: link order {linked}, environment larger by "
        f"{event.environment_bytes} bytes"
    )


def ending(event: Finished) -> str:
    failures = len(event.failures)
    failed = f", {failures} failed" if failures else ""
    return f"raced in {duration(event.elapsed_s)}{failed}: {event.folder}"


def outcome(event: TrialFinished) -> str:
    if event.failed is not None:
        return f"failed: {event.failed}"
    marked = "" if event.disturbed is None else f", disturbed: {event.disturbed}"
    if event.cpu_us_per_request is None:
        return f"done{marked}"
    return f"server CPU {event.cpu_us_per_request:,.1f} µs/request{marked}"


def repeated(event: TrialDisturbed) -> str:
    why = event.disturbed or "a trial that it is compared with was disturbed"
    return f"disturbed ({why}): repeated"


class Silent:
    """The display of `--quiet`: shows nothing."""

    def __call__(self, event: Event) -> None:
        pass

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Lines(Silent):
    """Prints one line an event."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.trials = 0

    def say(self, text: str) -> None:
        say(self.console, text)

    def __call__(self, event: Event) -> None:
        match event:
            case SearchStarted():
                self.say(search_heading(event))
                for note in event.notes:
                    self.say(f"note: {note}")
            case Searched():
                self.say(
                    f"search {event.number}/{event.turns} {searched(event)}; "
                    f"{duration(event.left_s)} left"
                )
            case Started():
                self.trials = event.trials
                self.say(heading(event))
                for note in event.notes:
                    self.say(f"note: {note}")
                if event.done:
                    self.say(f"{event.done} trials are already in the ledger")
            case SittingStarted() | Pausing():
                self.say(sitting(event))
            case TrialFinished():
                self.say(
                    f"{event.number}/{self.trials} block {event.planned.block} "
                    f"({event.planned.kind}) {event.cell.label()}: {outcome(event)}; "
                    f"{duration(event.left_s)} left"
                )
            case TrialDisturbed():
                self.say(
                    f"{event.number}/{self.trials} block {event.planned.block} "
                    f"({event.planned.kind}) {event.cell.label()}: {repeated(event)}"
                )
            case RaceNote():
                self.say(f"note: {event.text}")
            case Finished():
                self.say(ending(event))
            case _:
                pass


Standings = Callable[[], list[dict[str, Any]]]


class LiveDisplay(Silent):
    """What runs now, how much is left, and the standings so far.

    It draws only between trials: a display that refreshes by itself would use the CPUs that are
    being measured.
    """

    def __init__(self, console: Console, standings: Callable[[Started], Standings]) -> None:
        self.console = console
        self.make_standings = standings
        self.standings: Standings | None = None
        self.live = Live(console=console, auto_refresh=False, transient=True)
        self.started: Started | None = None
        self.searched: Searched | None = None
        self.done = 0
        self.left_s: float | None = None
        self.now = ""
        self.sitting: str | None = None
        self.failures: list[str] = []
        self.disturbed: list[str] = []
        self.rows: list[dict[str, Any]] = []

    def __enter__(self) -> LiveDisplay:
        self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def __call__(self, event: Event) -> None:
        match event:
            case SearchStarted():
                self.begin(search_heading(event), event.notes)
            case Searching():
                rate = f"at {event.rate:,} requests/s" if event.rate else "in a closed load"
                self.now = f"{event.cell.contender} {rate}"
            case Searched():
                self.searched = event
            case Started():
                self.started, self.done = event, event.done
                self.standings = self.make_standings(event)
                self.begin(heading(event), event.notes)
            case SittingStarted() | Pausing():
                self.sitting = sitting(event)
            case TrialStarted():
                planned = event.planned
                self.now = f"block {planned.block} ({planned.kind}): {event.cell.label()}"
            case TrialFinished():
                self.end_trial(event)
            case TrialDisturbed():
                planned = event.planned
                self.now = f"block {planned.block} ({planned.kind}): {event.cell.label()}, again"
                if event.disturbed is not None:
                    self.disturbed.append(event.disturbed)
            case RaceNote():
                self.console.print(f"[yellow]note:[/] {escape(event.text)}", highlight=False)
            case Finished():
                self.console.print(escape(ending(event)), highlight=False)
        self.live.update(self.draw(), refresh=True)

    def begin(self, head: str, notes: tuple[str, ...]) -> None:
        self.console.print(escape(head), highlight=False)
        for note in notes:
            self.console.print(f"[yellow]note:[/] {escape(note)}", highlight=False)

    def end_trial(self, event: TrialFinished) -> None:
        self.done, self.left_s = event.number, event.left_s
        if event.failed is not None:
            self.failures.append(event.failed)
        if event.disturbed is not None:
            self.disturbed.append(event.disturbed)
        if self.standings is not None:
            self.rows = self.standings()

    def draw_search(self) -> RenderableType:
        """Before the race: what is being tried, and the last result."""
        last = self.searched
        if last is None:
            return Text(f"now  {self.now}", style="dim")
        head = Table.grid(padding=(0, 1))
        head.add_row(
            ProgressBar(total=last.turns, completed=last.number, width=30),
            Text(f"{last.number}/{last.turns} searches  about {duration(last.left_s)} left"),
        )
        return Group(head, Text(f"now  {self.now}\nlast {searched(last)}", style="dim"))

    def draw(self) -> RenderableType:
        if self.started is None:
            return self.draw_search()
        left = "" if self.left_s is None else f"  about {duration(self.left_s)} left"
        head = Table.grid(padding=(0, 1))
        head.add_row(
            ProgressBar(total=self.started.trials, completed=self.done, width=30),
            Text(f"{self.done}/{self.started.trials} trials{left}"),
        )
        parts: list[RenderableType] = [head, Text(f"now  {self.now}", style="dim")]
        if self.sitting is not None:
            parts.append(Text(self.sitting, style="dim"))
        if self.failures:
            text = f"{len(self.failures)} failed, the last: {self.failures[-1]}"
            parts.append(Text(text, style="red"))
        if self.disturbed:
            text = f"{len(self.disturbed)} disturbed, the last: {self.disturbed[-1]}"
            parts.append(Text(text, style="yellow"))
        if self.rows:
            parts.append(standings_so_far(self.rows))
        return Group(*parts)


def row_name(row: dict[str, Any], varying: list[str]) -> str:
    """The contender and whatever else distinguishes its rows in this study."""
    return " · ".join(
        AXES[key].count(row[key]) if key in AXES else str(row[key])
        for key in ("contender", *varying)
        if row[key] is not None
    )


def standings_so_far(rows: list[dict[str, Any]]) -> RenderableType:
    """A row for each contender, a column for each step of the axis; the least is green.

    Contenders are compared only where everything else is equal.
    """
    axis = choose_axis(rows, dict.get)
    others = [name for name in AXES if name != axis.name]
    varying = [
        key
        for key in ("work", "load", "engine", "dialect", *others)
        if len({row.get(key) for row in rows}) > 1
    ]
    steps = sorted({row[axis.name] for row in rows if row[axis.name] is not None})
    values: dict[str, dict[int, float]] = {}
    best: dict[tuple[object, ...], float] = {}
    groups: dict[str, tuple[object, ...]] = {}
    for row in rows:
        name = row_name(row, varying)
        groups[name] = tuple(row[key] for key in varying)
        value = float(row["cpu_us_per_request"])
        # A design without this quantity (workers) is shown at every step.
        for step in steps if row[axis.name] is None else [row[axis.name]]:
            values.setdefault(name, {})[step] = value
            key = (*groups[name], step)
            best[key] = min(value, best.get(key, value))
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(axis.many, style="bold", no_wrap=True)
    for step in steps:
        table.add_column(str(step), justify="right", no_wrap=True)
    for name, known in values.items():
        cells = []
        for step in steps:
            if step not in known:
                cells.append(Text("–"))
                continue
            leads = known[step] == best[(*groups[name], step)]
            cells.append(Text(f"{known[step]:,.0f}", style="bold green" if leads else ""))
        table.add_row(Text(name), *cells)
    return Group(Text("so far: server CPU per request in µs", style="dim"), table)


def display_on(console: Console, quiet: bool) -> Display:
    if quiet:
        return Silent()
    if console.is_terminal:
        return LiveDisplay(console, standings_of)
    return Lines(Output(stderr=True))


def standings_of(started: Started) -> Standings:
    """A function that returns the standings so far."""
    path = started.about.folder / FILE_NAME
    return lambda: quick_standings(path)
