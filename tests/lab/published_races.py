"""Races with published figures, for tests of paper tables and plots."""

from dataclasses import replace
from pathlib import Path

from regatta.judge.claims.result import SUPPORTED
from regatta.judge.results import Analysis
from regatta.record.inputs import PublishedFigure
from tests.lab import reports
from tests.lab.synthetic import make
from tests.lab.synthetic_claims import ITERATIVE, SELECT, THREAD, claim

REPORT_D = "report D (Linux under Windows)"
DESIGNS = (ITERATIVE, SELECT, THREAD)
CLOCK = {ITERATIVE: 8.56, SELECT: 3.63, THREAD: 9.77}
"""Published figures, in ms of a whole process, at 5 connections."""


def raced(folder: Path, **changes: object) -> Analysis:
    """Windows and whole processes at 5 and 15 connections, with hardware counters."""
    known: dict[str, object] = {
        "scopes": ["window", "process"],
        "connections": [5, 15],
        "hardware": True,
        "blocks": 6,
        "counted_blocks": 6,
        "requests": 60,
    }
    return reports.analysed(make(folder / "ledger.sqlite", **(known | changes)))


def with_published(analysis: Analysis) -> Analysis:
    clocks = [
        PublishedFigure(design, 5, value, "ms", "process", metric="cpu_clock")
        for design, value in CLOCK.items()
    ]
    user = [PublishedFigure(SELECT, 5, 0.002, "s", "process", metric="user_time")]
    switches = [PublishedFigure(SELECT, 5, 12, "", "process", metric="context_switches")]
    rates = [
        PublishedFigure(design, 15, 1.0, "", "", metric="instructions_per_cycle")
        for design in DESIGNS
    ]
    of_the_book = [PublishedFigure(SELECT, 5, 9.0, "s", "process", metric="cpu_clock", column="x")]
    said = claim(
        "D1",
        "Select uses the least CPU.",
        SUPPORTED,
        source=REPORT_D,
        metric="cpu_clock",
        published=[*clocks, *user, *switches, *rates, *of_the_book],
    )
    return replace(analysis, claims=[said])
