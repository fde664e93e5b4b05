"""Every form of the report shows the calibration."""

import json
from pathlib import Path
from typing import Any

import pytest

from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis
from regatta.record.inputs import Calibration, Goal, RaceInputs, to_plain
from regatta.record.read import read
from regatta.show.environment import PAIRS, calibration_sentence, goals_table
from regatta.show.json_summary import to_dict
from tests.lab import reports
from tests.lab.synthetic import make

GOALS = (
    Goal("power of quick", "8 % is found", "4.9 %", True, "1,000 comparisons"),
    Goal("p99 of a stopped server", "within 5 % of the truth", "7.1 % below", False),
    Goal("context switches", "within 1 %", "no perf here", None),
    Goal("equals: claims", "at most 5 %", "2 of 40", None, value=5.0),
)
STORED = Calibration(1_790_000_000.0, 1234.0, "0.1.0", {"cpus": 2}, GOALS)


def analysed(folder: Path, calibration: Calibration | str | None) -> Analysis:
    path = folder / "ledger.sqlite"
    given = RaceInputs(calibration=calibration)
    return analyse(read(make(path, connections=[10], blocks=2, requests=20, inputs=given)))


def test_the_view_shows_the_goals_and_what_was_missed(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, STORED)
    text = reports.told(analysis)
    assert "1 of 3 goals met, 1 not refuted; missed: p99 of a stopped server." in text
    assert "A/A: equal copies called different in 2 of 40 races, too few to prove it." in text
    assert "7.1 % below" in text
    assert "1,000 comparisons" in text
    outcomes = [row[3] for row in reports.cells(goals_table(GOALS))]
    assert outcomes == ["met", "missed", "not measured", "not refuted"]


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        (None, "This machine had not been calibrated"),
        ("it is not JSON", "could not be read: it is not JSON."),
    ],
)
def test_a_missing_calibration_is_reported(tmp_path: Path, stored: str | None, told: str) -> None:
    analysis = analysed(tmp_path, stored)
    assert told in calibration_sentence(analysis)
    assert told in reports.told(analysis)
    assert reports.section(analysis, "How sound the instrument is").tables == ()


@pytest.mark.parametrize(
    ("goals", "told"),
    [
        ((), "A/A: not run."),
        (("A/A: not run", None), "A/A: not run."),
        (
            ("2 of 40 (0.6 to 16.9 %)", True),
            "equal copies called different in 2 of 40 (0.6 to 16.9 %) races.",
        ),
        (("0 of 3 (0.0 to 70.8 %)", None), "0 of 3 (0.0 to 70.8 %) races, too few to prove"),
    ],
)
def test_a_report_says_whether_equal_copies_were_raced(
    tmp_path: Path, goals: tuple[Any, ...], told: str
) -> None:
    found = [Goal("window", "within 1 %", "0.1 %", True)]
    if goals:
        found.append(Goal(f"{PAIRS}, CPU per request", "in 6 of 40 or fewer", *goals))
    stored = Calibration(1_790_000_000.0, 1234.0, "0.1.0", {}, tuple(found))
    assert told in calibration_sentence(analysed(tmp_path, stored))


@pytest.mark.parametrize(
    ("stored", "told"),
    [(STORED, to_plain(STORED)), ("it is not JSON", {"problem": "it is not JSON"}), (None, None)],
)
def test_the_json_has_the_whole_calibration(
    tmp_path: Path, stored: Calibration | str | None, told: dict[str, Any] | None
) -> None:
    found = json.dumps(to_dict(analysed(tmp_path, stored))["calibration"])
    assert found == json.dumps(told)
