"""Time and cycles may rank designs in opposite order: clock speeds differed, the first warning."""

from pathlib import Path

import pytest

from regatta.show.notes import notes
from tests.lab import reports, synthetic
from tests.ledgers import change

SLOWER = "thread-per-client"


def raced(folder: Path, slow_clock: float, **changes: object) -> Path:
    """A ledger of counted trials; the CPU of thread-per-client ran at this share of the clock."""
    known = {"connections": [10], "hardware": True, "blocks": 8, "counted_blocks": 8}
    path = synthetic.make(folder / "ledger.sqlite", **(known | changes))
    change(
        path,
        "UPDATE counter SET value = value * ? WHERE event = 'cycles' AND trial_id IN"
        " (SELECT trial.id FROM trial JOIN cell ON cell.id = cell_id WHERE contender = ?)",
        slow_clock,
        SLOWER,
    )
    return path


def test_a_slow_clock_that_reverses_an_order_is_the_first_warning(tmp_path: Path) -> None:
    """It takes 1.13 times the time of iterative at 0.7 of its clock: 0.79 times the cycles."""
    path = raced(tmp_path, 0.7)
    analysis = reports.analysed(path)
    found = analysis.groups[0].inversions
    assert [(pair.less, pair.more) for pair in found] == [
        ("iterative", SLOWER),
        ("select", SLOWER),
    ]
    assert 1.05 < found[0].first < 1.2
    assert 0.7 < found[0].second < 0.85
    first = notes(analysis)[0]
    assert first.sentence.startswith("Clock speeds differed. At 10 connections thread-per-client")
    assert "1 other pair" in first.sentence
    assert first.line.startswith("Clock speeds differed")
    (inverted, *_) = reports.summary_json(path)["groups"][0]["clock_inverts"]
    assert inverted["cycles"] < 1 < inverted["time"]


@pytest.mark.parametrize(
    ("slow_clock", "changes", "events"),
    [
        (0.95, {}, {}),
        (0.7, {"hardware": False}, {}),
        (0.7, {}, {"cycles": "cycles:u"}),
        (0.7, {}, {"cycles": "cpu_core/cycles/"}),
    ],
    ids=["reverses no order", "no counters", "user space only", "two kinds of core"],
)
def test_cycles_that_cannot_be_compared_or_agree_give_no_warning(
    tmp_path: Path, slow_clock: float, changes: dict[str, object], events: dict[str, str]
) -> None:
    path = raced(tmp_path, slow_clock, **changes)
    for event, other in events.items():
        change(path, "UPDATE counter SET event = ? WHERE event = ?", other, event)
    change(
        path,
        "INSERT INTO counter SELECT trial_id, side, origin, 'cpu_atom/cycles/', value, unit,"
        " running_percent, state FROM counter WHERE event = 'cpu_core/cycles/'",
    )
    analysis = reports.analysed(path)
    assert analysis.groups[0].inversions == []
    assert not any("speeds differed" in note.sentence for note in notes(analysis))
