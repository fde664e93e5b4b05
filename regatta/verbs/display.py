"""The display of a race: none, live on a terminal, or one line an event on stderr."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from regatta.measure.race import events as ev
from regatta.record.cell import Cell
from regatta.record.records import PlannedTrial
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


def trial(planned: PlannedTrial, cell: Cell, between: str = ": ") -> str:
    return f"block {planned.block} ({planned.kind}){between}{cell.label()}"


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


class Lines:
    """Prints one line an event."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.trials = 0

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        pass

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
            case ev.SittingStarted():
                linked = "as built" if event.link_order is None else f"{event.link_order}"
                yield (
                    f"sitting {event.number} of {event.of}: link order {linked}, environment "
                    f"larger by {event.environment_bytes} bytes"
                )
            case ev.Pausing():
                yield (
                    f"sitting {event.next_sitting} begins in {duration(event.pause_s)}; or stop "
                    "with Ctrl-C and continue with --resume at any time"
                )
            case ev.TrialFinished() | ev.TrialDisturbed():
                at = f"{event.number}/{self.trials} {trial(event.planned, event.cell, ' ')}"
                yield f"{at}: {outcome(event)}"
            case ev.RaceNote():
                yield f"note: {event.text}"
            case ev.Finished():
                failed = f", {len(event.failures)} failed" if event.failures else ""
                yield f"raced in {duration(event.elapsed_s)}{failed}: {event.folder}"
            case _:
                pass


class LiveDisplay(Lines):
    """What runs now, how much is left, and the last outcome.

    It draws only between trials: a display that refreshes by itself would use the CPUs that are
    being measured.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self.live = Live(console=console, auto_refresh=False, transient=True)
        self.unit = "searches"
        self.done, self.of = 0, 0
        self.left_s: float | None = None
        self.now = self.last = ""
        self.failures: list[str] = []
        self.disturbed: list[str] = []

    def __enter__(self) -> LiveDisplay:
        self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def __call__(self, event: ev.Event) -> None:
        match event:
            case ev.Searching():
                rate = f"at {event.rate:,} requests/s" if event.rate else "in a closed load"
                self.now = f"{event.cell.contender} {rate}"
            case ev.Searched():
                self.done, self.of, self.left_s = event.number, event.turns, event.left_s
                self.last = searched(event)
            case ev.TrialStarted():
                self.now = trial(event.planned, event.cell)
            case ev.TrialFinished() | ev.TrialDisturbed():
                self.last = f"{trial(event.planned, event.cell)}: {outcome(event)}"
                self.disturbed += [event.disturbed] if event.disturbed is not None else []
                if isinstance(event, ev.TrialFinished):
                    self.done, self.left_s = event.number, event.left_s
                    self.failures += [event.failed] if event.failed is not None else []
            case _:
                for line in self.lines(event):
                    self.console.print(escape(line), highlight=False)
        if isinstance(event, ev.Started):
            self.unit, self.done, self.of = "trials", event.done, event.trials
            self.left_s, self.last = None, ""
        self.live.update(self.draw(), refresh=True)

    def draw(self) -> RenderableType:
        lines: list[RenderableType] = []
        if self.of:
            left = "" if self.left_s is None else f"  about {duration(self.left_s)} left"
            head = Table.grid(padding=(0, 1))
            head.add_row(
                ProgressBar(total=self.of, completed=self.done, width=30),
                Text(f"{self.done}/{self.of} {self.unit}{left}"),
            )
            lines.append(head)
        lines.append(Text(f"now   {self.now}", style="dim"))
        lines.append(Text(f"last  {self.last}", style="dim"))
        for what, whys, style in (
            ("failed", self.failures, "red"),
            ("disturbed", self.disturbed, "yellow"),
        ):
            if whys:
                lines.append(Text(f"{len(whys)} {what}, the last: {whys[-1]}", style=style))
        return Group(*lines)


def display_on(console: Console, quiet: bool) -> ev.Display:
    if console.is_terminal and not quiet:
        return LiveDisplay(console)
    return Lines(Output(stderr=True, quiet=quiet))
