"""A ratio has the digits of its interval, and the same ones wherever it is written."""

from pathlib import Path

import pytest

from regatta.analysis.analyse import analyse
from regatta.analysis.columns import Against
from regatta.analysis.standings import LARGER
from regatta.ledger.metrics import PRIMARY
from regatta.ledger.read import read
from regatta.report.tables.against import relative_figures
from regatta.report.text.numbers import between, ratio_around, times
from regatta.report.text.verdicts import verdict_sentence
from tests.lab.synthetic import make


@pytest.mark.parametrize(
    ("value", "low", "high", "written", "interval"),
    [
        (1.016, 0.983, 1.051, "1.02", "0.98–1.05"),
        (1.016, 1.012, 1.021, "1.016", "1.012–1.021"),
        (1.06, 1.003, 1.12, "1.060", "1.003–1.120"),
        (0.97, 0.94, 0.998, "0.970", "0.940–0.998"),
        (1.06, 1.000001, 1.12, "1.06", "1.00–1.12"),
        (12.34, 11.1, 13.7, "12.3", "11.1–13.7"),
    ],
)
def test_a_ratio_has_the_digits_that_its_interval_supports(
    value: float, low: float, high: float, written: str, interval: str
) -> None:
    assert times(value, low, high) == written
    assert between(value, low, high) == interval
    at = (10, PRIMARY.name, "server", "select", "epoll")
    one = Against(*at, "ratio", value, low, high, 0.04, 10, None, LARGER)
    assert ratio_around(one)[0] == written


@pytest.mark.parametrize("select_us", [606.0, 640.0, 1900.0])
def test_the_table_and_the_sentence_write_one_ratio_alike(select_us: float, tmp_path: Path) -> None:
    costs = {"iterative": 600.0, "thread-per-client": 3000.0, "select": select_us}
    path = make(tmp_path / "ledger.sqlite", cpu_us=costs, connections=(10,), blocks=20)
    group = analyse(read(path)).groups[0]
    name = group.overall.runner_up
    figure = relative_figures(group, group.steps[0])[name, PRIMARY.name]
    said = verdict_sentence(group, group.overall)
    assert f" {figure.value.strip('×≈ ')} times as much (95 % interval {figure.interval})" in said
    (one,) = [one for one in group.against if (one.contender, one.metric) == (name, PRIMARY.name)]
    assert ratio_around(one)[0] == figure.value.strip("×≈ ")
