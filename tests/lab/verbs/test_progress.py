"""The progress displays of a race."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from regatta.measure.race.events import (
    About,
    Display,
    Event,
    Finished,
    Pausing,
    Progress,
    SittingStarted,
    Started,
    TrialFinished,
    TrialStarted,
)
from regatta.record.cell import Cell
from regatta.record.records import PlannedTrial, Trial
from regatta.record.study import parse_study
from regatta.record.study.find import Design
from regatta.verbs.display import Lines, LiveDisplay
from tests.lab import reports

CELL = Cell("select", 2, "scan", "burst", 10, "epoll", "line", 20, None, None, 2, 100)
PLANNED = PlannedTrial(1, 1, 1, "timed")
STARTED = Started(
    About("quick", "Quick [bold]", Path("out"), 7, "netns", (0,), (1, 2)), 2, 1, ("no perf",)
)
EVENTS: list[Event] = [
    STARTED,
    TrialStarted(2, PLANNED, CELL),
    TrialFinished(2, PLANNED, CELL, None, 612.34, 0, 65.0),
    TrialFinished(2, PLANNED, CELL, "the server [red] died", None, 0, 0.0),
    Finished(Path("out"), ("the server died",), 3.0),
]


def shown(make: Callable[[Console], Display], events: Sequence[Event], **terminal: bool) -> str:
    def show(console: Console) -> None:
        with make(console) as display:
            for event in events:
                display(event)

    return reports.printed(show, **terminal)


@pytest.mark.parametrize("terminal", [False, True])
def test_sittings_and_pauses_are_shown(terminal: bool) -> None:
    started = replace(STARTED, sittings=3)
    events = (started, SittingStarted(2, 3, 77, 1234), EVENTS[1], Pausing(3, 3600))
    text = " ".join(
        shown(LiveDisplay if terminal else Lines, events, force_terminal=terminal).split()
    )
    assert "2 trials in 3 sittings, netns" in text
    assert "sitting 2 of 3: link order 77, environment larger by 1234 bytes" in text
    assert "sitting 3 begins in 1 h 00 min; or stop with Ctrl-C" in text


def test_lines_show_progress_time_left_and_failures() -> None:
    text = shown(Lines, EVENTS)
    assert "Quick [bold] (quick, seed 7): 2 trials, netns" in text
    assert "server on CPU 0, client on CPUs 1-2" in text
    assert "note: no perf" in text
    assert "1 trials are already in the ledger" in text
    assert "select · 10 connections" in text
    assert "server CPU 612.3 µs/request; 1 min 05 s left" in text
    assert "failed: the server [red] died" in text
    assert "raced in 3 s, 1 failed: out" in text
    assert "\x1b" not in text


def test_the_live_display_shows_what_is_left_and_the_last_outcome() -> None:
    text = shown(LiveDisplay, EVENTS, force_terminal=True)
    assert "2/2 trials" in text
    assert "server CPU 612.3 µs/request" in text
    assert "1 failed, the last: the server [red] died" in text


def test_the_time_left_does_not_jump_within_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three trials that ran side by side took 6 s together: 2 s each."""
    seconds = iter((0.0, 6.0))
    monkeypatch.setattr("regatta.measure.race.events.time.monotonic", lambda: next(seconds))
    study = parse_study(
        'name = "x"\n[[cells]]\ndesigns = ["select"]\nconnections = 1\n', [Design("select", "")]
    )
    left: list[float] = []
    progress = Progress(study, 9, 9, lambda event: left.append(getattr(event, "left_s", -1)))
    progress.batch_ended(3)
    for block in (1, 2, 3):
        progress.ended(PlannedTrial(block, 1, 1, "timed"), CELL, Trial())
    assert left == [16.0, 14.0, 12.0]
