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
    before = analyse(read(path))
    ledgers.change(
        path,
        "UPDATE counter SET value = value * 3 WHERE event = 'cpu-time' AND side = 'server'"
        " AND trial_id = (SELECT trial.id FROM trial JOIN cell ON cell.id = cell_id"
        " WHERE contender = 'select' AND block = 4)",
    )
    after = analyse(read(path))
    name = "cpu_time_per_request_us"
    (found,) = (outlier for outlier in after.outliers if outlier.metric == name)
    assert (found.cell.contender, found.block) == ("select", 4)
    assert found.value > 2.5 * found.median
    means = [
        next(
            result.estimates["server", name].value
            for result in of.groups[0].cells
            if result.cell.contender == "select"
        )
        for of in (before, after)
    ]
    assert means[1] > 1.15 * means[0]
    assert {"block": 4, "metric": name}.items() <= reports.summary_json(path)["outliers"][0].items()


def test_fences_are_those_of_tukey() -> None:
    plain = dict(enumerate(map(float, range(-3, 9))))
    assert outlying_blocks(plain) == []
    assert outlying_blocks(plain | {99: 8 + 3 * 5.5 + 5}) == [99]
    assert outlying_blocks({0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 5.0}) == [], (
        "whole numbers that agree"
    )
    assert outlying_blocks({0: 1.0, 1: 1.1, 2: 1.2, 3: 99.0}) == [], "too few"
