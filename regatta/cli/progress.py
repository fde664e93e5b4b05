"""The events of a race as lines of text, for logs and pipes."""

from __future__ import annotations

from rich.console import Console

from regatta.cli.output import say
from regatta.race.events import (
    About,
    Event,
    Finished,
    Note,
    Pausing,
    Searched,
    SearchStarted,
    SittingStarted,
    Started,
    TrialDisturbed,
    TrialFinished,
)
from regatta.show.text import duration
from regatta.study.cpus import cpus_text


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
            case Note():
                self.say(f"note: {event.text}")
            case Finished():
                self.say(ending(event))
            case _:
                pass
