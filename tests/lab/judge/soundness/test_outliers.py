"""Outliers are listed and kept."""

from pathlib import Path

from regatta.judge.analyse import analyse
from regatta.judge.soundness.repeated import outlying_blocks
from regatta.record.read import read
from tests import ledgers
from tests.lab import reports
from tests.lab.synthetic import make


def test_an_outlier_is_listed_and_kept_in_the_average(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", connections=[10], contenders=["iterative", "select"])
    name = "cpu_time_per_request_us"
    usual = analyse(read(path)).groups[0].cells[1].estimates["server", name].value
    ledgers.change(
        path,
        "UPDATE counter SET value = value * 3 WHERE event = 'cpu-time' AND side = 'server'"
        " AND trial_id = (SELECT trial.id FROM trial JOIN cell ON cell.id = cell_id"
        " WHERE contender = 'select' AND block = 4)",
    )
    analysis = analyse(read(path))
    (found,) = (outlier for outlier in analysis.outliers if outlier.metric == name)
    assert (found.cell.contender, found.block) == ("select", 4)
    assert found.value > 2.5 * found.median
    assert analysis.groups[0].cells[1].estimates["server", name].value > 1.15 * usual
    assert {"block": 4, "metric": name}.items() <= reports.summary_json(path)["outliers"][0].items()


def test_fences_are_those_of_tukey() -> None:
    plain = dict(enumerate(map(float, range(-3, 9))))
    assert outlying_blocks(plain) == []
    assert outlying_blocks(plain | {99: 8 + 3 * 5.5 + 5}) == [99]
    assert outlying_blocks({0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 5.0}) == [], (
        "whole numbers that agree"
    )
    assert outlying_blocks({0: 1.0, 1: 1.1, 2: 1.2, 3: 99.0}) == [], "too few"
