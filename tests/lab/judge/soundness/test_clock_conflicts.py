"""Time and cycles may rank designs in opposite order: clock speeds differed, the first warning."""

import json
from pathlib import Path

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
    analysis = reports.analysed(raced(tmp_path, 0.7))
    found = analysis.groups[0].inversions
    assert [(one.less, one.more) for one in found] == [
        ("iterative", SLOWER),
        ("select", SLOWER),
    ]
    assert 1.05 < found[0].first < 1.2
    assert 0.7 < found[0].second < 0.85
    first = notes(analysis)[0]
    assert first.sentence.startswith("Clock speeds differed. At 10 connections thread-per-client")
    assert "1 other pair" in first.sentence
    assert first.line.startswith("Clock speeds differed")


def test_every_form_warns_of_clock_speeds(tmp_path: Path) -> None:
    path = raced(tmp_path, 0.7)
    reports.write(path)
    summary = reports.summary_json(path)
    (first, *_) = summary["groups"][0]["clock_inverts"]
    assert first["cycles"] < 1 < first["time"]
    told = json.dumps(summary)
    shown = [reports.printed(show, path) for show in (reports.screen, reports.explain)]
    for name in ("report.html", "summary.md"):
        shown.append((tmp_path / name).read_text())
    assert all("Clock speeds differed" in text for text in [*shown, told])


def test_a_clock_that_reverses_no_order_gives_no_warning(tmp_path: Path) -> None:
    analysis = reports.analysed(raced(tmp_path, 0.95))
    assert analysis.groups[0].inversions == []
    assert not any("speeds differed" in note.sentence for note in notes(analysis))


def test_without_hardware_counters_there_is_nothing_to_compare(tmp_path: Path) -> None:
    analysis = reports.analysed(raced(tmp_path, 0.7, hardware=False))
    assert analysis.groups[0].inversions == []


def test_user_space_cycles_are_not_compared(tmp_path: Path) -> None:
    path = raced(tmp_path, 0.7)
    change(path, "UPDATE counter SET event = 'cycles:u' WHERE event = 'cycles'")
    assert reports.analysed(path).groups[0].inversions == []


def test_cycles_of_two_kinds_of_core_are_not_compared(tmp_path: Path) -> None:
    path = raced(tmp_path, 0.7)
    change(path, "UPDATE counter SET event = 'cpu_core/cycles/' WHERE event = 'cycles'")
    change(
        path,
        "INSERT INTO counter SELECT trial_id, side, origin, 'cpu_atom/cycles/', value, unit,"
        " running_percent, state FROM counter WHERE event = 'cpu_core/cycles/'",
    )
    assert reports.analysed(path).groups[0].inversions == []
