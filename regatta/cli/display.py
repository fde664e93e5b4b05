"""Chooses the progress display of a race: none, live on a terminal, or one line an event on stderr,
where it does not mix with results that are piped on."""

from rich.console import Console

from regatta.analysis.running.live_standings import quick_standings
from regatta.cli.live import LiveDisplay, Standings
from regatta.cli.output import Output
from regatta.cli.progress import Lines, Silent
from regatta.ledger.schema import FILE_NAME
from regatta.race.events import Display, Started


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
