"""The view and the JSON have the calibration."""

import json
from pathlib import Path

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


def stored(*goals: Goal) -> Calibration:
    return Calibration(1_790_000_000.0, 1234.0, "0.1.0", {"cpus": 2}, goals)


def analysed(folder: Path, calibration: Calibration | str | None) -> Analysis:
    path = folder / "ledger.sqlite"
    given = RaceInputs(calibration=calibration)
    return analyse(read(make(path, connections=[10], blocks=2, requests=20, inputs=given)))


def test_the_view_and_the_json_have_the_goals_and_what_was_missed(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, stored(*GOALS))
    text = reports.told(analysis)
    for words in (
        "1 of 3 goals met, 1 not refuted; missed: p99 of a stopped server.",
        "A/A: equal copies called different in 2 of 40 races, too few to prove it.",
        "7.1 % below",
        "1,000 comparisons",
    ):
        assert words in text
    outcomes = [row[3] for row in reports.cells(goals_table(GOALS))]
    assert outcomes == ["met", "missed", "not measured", "not refuted"]
    found = json.dumps(to_dict(analysis)["calibration"])
    assert found == json.dumps(to_plain(stored(*GOALS)))


@pytest.mark.parametrize(
    ("calibration", "told", "plain"),
    [
        (None, "This machine had not been calibrated", None),
        (
            "it is not JSON",
            "could not be read: it is not JSON.",
            {"problem": "it is not JSON"},
        ),
    ],
)
def test_a_missing_calibration_is_reported(
    tmp_path: Path, calibration: str | None, told: str, plain: dict[str, str] | None
) -> None:
    analysis = analysed(tmp_path, calibration)
    section = reports.section(analysis, "How sound the instrument is")
    assert told in section.text[0]
    assert section.tables == ()
    assert to_dict(analysis)["calibration"] == plain


@pytest.mark.parametrize(
    ("goal", "told"),
    [
        (None, "A/A: not run."),
        (("A/A: not run", None), "A/A: not run."),
        (("2 of 40 (0.6 %)", True), "equal copies called different in 2 of 40 (0.6 %) races."),
        (("0 of 3 (0.0 %)", None), "0 of 3 (0.0 %) races, too few to prove"),
    ],
)
def test_a_report_says_whether_equal_copies_were_raced(
    tmp_path: Path, goal: tuple[str, bool | None] | None, told: str
) -> None:
    goals = [Goal("window", "within 1 %", "0.1 %", True)]
    goals += [Goal(f"{PAIRS}, CPU per request", "in 6 of 40 or fewer", *goal)] if goal else []
    assert told in calibration_sentence(analysed(tmp_path, stored(*goals)))
