"""The display of a race: none, live on a terminal, or one line an event on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from regatta.judge.power import quick_standings
from regatta.measure.race import events as ev
from regatta.record.cell import AXES, Cell, choose_axis
from regatta.record.records import PlannedTrial
from regatta.record.schema import FILE_NAME
from regatta.record.study.cpus import cpus_text
from regatta.show.text import duration
from regatta.verbs.output import Output, say


def heading(event: ev.Started | ev.SearchStarted) -> str:
    """What begins, and where it runs."""
    about: ev.About = event.about
    if isinstance(event, ev.Started):
        what = f"{event.trials} trials"
        what += f" in {event.sittings} sittings" if event.sittings > 1 else ""
    else:
        what = f"search for the highest rate of {event.contenders} contenders, "
        what += f"in {event.blocks} blocks"
    return (
        f"{about.title} ({about.name}, seed {about.seed}): {what}, {about.placement}, "
        f"server on {cpus_text(about.server_cpus)}, client on {cpus_text(about.client_cpus)}"
    )


def searched(event: ev.Searched) -> str:
    return f"block {event.block} of {event.blocks}, {event.cell.label()}: {event.says}"


def sitting(event: ev.SittingStarted | ev.Pausing) -> str:
    """The sitting that begins, or the pause before it."""
    if isinstance(event, ev.Pausing):
        return (
            f"sitting {event.next_sitting} begins in {duration(event.pause_s)}; or stop with "
            "Ctrl-C and continue with --resume at any time"
        )
    linked = "as built" if event.link_order is None else f"{event.link_order}"
    return (
        f"sitting {event.number} of {event.of}: link order {linked}, environment larger by "
        f"{event.environment_bytes} bytes"
    )


def trial(planned: PlannedTrial, cell: Cell, between: str = ": ") -> str:
    return f"block {planned.block} ({planned.kind}){between}{cell.label()}"


def ending(event: ev.Finished) -> str:
    failed = f", {len(event.failures)} failed" if event.failures else ""
    return f"raced in {duration(event.elapsed_s)}{failed}: {event.folder}"


def outcome(event: ev.TrialFinished | ev.TrialDisturbed) -> str:
    if isinstance(event, ev.TrialDisturbed):
        why = event.disturbed or "a trial that it is compared with was disturbed"
        return f"disturbed ({why}): repeated"
    left = f"; {duration(event.left_s)} left"
    if event.failed is not None:
        return f"failed: {event.failed}{left}"
    cpu = event.cpu_us_per_request
    done = "done" if cpu is None else f"server CPU {cpu:,.1f} µs/request"
    return f"{done}{'' if event.disturbed is None else f', disturbed: {event.disturbed}'}{left}"


class Silent:
    """The display of `--quiet`: shows nothing."""

    def __call__(self, event: ev.Event) -> None:
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

    def __call__(self, event: ev.Event) -> None:
        for line in self.lines(event):
            say(self.console, line)

    def lines(self, event: ev.Event) -> Iterator[str]:
        match event:
            case ev.SearchStarted() | ev.Started():
                yield heading(event)
                yield from (f"note: {note}" for note in event.notes)
                if isinstance(event, ev.Started):
                    self.trials = event.trials
                    if event.done:
                        yield f"{event.done} trials are already in the ledger"
            case ev.Searched():
                left = f"{duration(event.left_s)} left"
                yield f"search {event.number}/{event.turns} {searched(event)}; {left}"
            case ev.SittingStarted() | ev.Pausing():
                yield sitting(event)
            case ev.TrialFinished() | ev.TrialDisturbed():
                at = f"{event.number}/{self.trials} {trial(event.planned, event.cell, ' ')}"
                yield f"{at}: {outcome(event)}"
            case ev.RaceNote():
                yield f"note: {event.text}"
            case ev.Finished():
                yield ending(event)
            case _:
                pass


class LiveDisplay(Silent):
    """What runs now, how much is left, and the standings so far.

    It draws only between trials: a display that refreshes by itself would use the CPUs that are
    being measured.
    """

    def __init__(
        self,
        console: Console,
        standings: Callable[[Path], list[dict[str, Any]]] = quick_standings,
    ) -> None:
        """`standings`: of a ledger."""
        self.console = console
        self.standings = standings
        self.live = Live(console=console, auto_refresh=False, transient=True)
        self.ledger: Path | None = None
        self.unit = "searches"
        self.done, self.of = 0, 0
        self.left_s: float | None = None
        self.now = self.then = ""
        self.failures: list[str] = []
        self.disturbed: list[str] = []
        self.rows: list[dict[str, Any]] = []

    def __enter__(self) -> LiveDisplay:
        self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def __call__(self, event: ev.Event) -> None:
        match event:
            case ev.SearchStarted() | ev.Started():
                self.console.print(escape(heading(event)), highlight=False)
                self.note(*event.notes)
                if isinstance(event, ev.Started):
                    self.ledger = event.about.folder / FILE_NAME
                    self.unit, self.done, self.of = "trials", event.done, event.trials
                    self.left_s, self.then = None, ""
            case ev.Searching():
                rate = f"at {event.rate:,} requests/s" if event.rate else "in a closed load"
                self.now = f"{event.cell.contender} {rate}"
            case ev.Searched():
                self.done, self.of, self.left_s = event.number, event.turns, event.left_s
                self.then = f"last {searched(event)}"
            case ev.SittingStarted() | ev.Pausing():
                self.then = sitting(event)
            case ev.TrialStarted():
                self.now = trial(event.planned, event.cell)
            case ev.TrialFinished():
                self.done, self.left_s = event.number, event.left_s
                self.failures += [event.failed] if event.failed is not None else []
                self.disturbed += [event.disturbed] if event.disturbed is not None else []
                self.rows = self.standings(self.ledger) if self.ledger is not None else []
            case ev.TrialDisturbed():
                self.now = f"{trial(event.planned, event.cell)}, again"
                self.disturbed += [event.disturbed] if event.disturbed is not None else []
            case ev.RaceNote():
                self.note(event.text)
            case ev.Finished():
                self.console.print(escape(ending(event)), highlight=False)
        self.live.update(self.draw(), refresh=True)

    def note(self, *notes: str) -> None:
        for note in notes:
            self.console.print(f"[yellow]note:[/] {escape(note)}", highlight=False)

    def draw(self) -> RenderableType:
        parts: list[RenderableType] = []
        if self.of:
            left = "" if self.left_s is None else f"  about {duration(self.left_s)} left"
            head = Table.grid(padding=(0, 1))
            head.add_row(
                ProgressBar(total=self.of, completed=self.done, width=30),
                Text(f"{self.done}/{self.of} {self.unit}{left}"),
            )
            parts.append(head)
        parts.append(Text(f"now  {self.now}", style="dim"))
        if self.then:
            parts.append(Text(self.then, style="dim"))
        for what, whys, style in (
            ("failed", self.failures, "red"),
            ("disturbed", self.disturbed, "yellow"),
        ):
            if whys:
                parts.append(Text(f"{len(whys)} {what}, the last: {whys[-1]}", style=style))
        if self.rows:
            parts.append(standings_so_far(self.rows))
        return Group(*parts)


def standings_so_far(rows: Sequence[dict[str, Any]]) -> RenderableType:
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
    group_of: dict[str, tuple[object, ...]] = {}
    for row in rows:
        name = " · ".join(
            AXES[key].count(row[key]) if key in AXES else str(row[key])
            for key in ("contender", *varying)
            if row[key] is not None
        )
        group_of[name] = tuple(row[key] for key in varying)
        # A design without this quantity (workers) is shown at every step.
        at = steps if row[axis.name] is None else [row[axis.name]]
        values.setdefault(name, {}).update(dict.fromkeys(at, float(row["cpu_us_per_request"])))
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(axis.many, style="bold", no_wrap=True)
    for step in steps:
        table.add_column(str(step), justify="right", no_wrap=True)
    for name, known in values.items():
        equals = [values[other] for other in values if group_of[other] == group_of[name]]
        cells = []
        for step in steps:
            least = min(one[step] for one in equals if step in one) if step in known else None
            is_best = step in known and known[step] == least
            text = f"{known[step]:,.0f}" if step in known else "–"
            cells.append(Text(text, style="bold green" if is_best else ""))
        table.add_row(Text(name), *cells)
    return Group(Text("so far: server CPU per request in µs", style="dim"), table)


def display_on(console: Console, quiet: bool) -> ev.Display:
    if quiet:
        return Silent()
    return LiveDisplay(console) if console.is_terminal else Lines(Output(stderr=True))
