"""Outliers are reported and kept; the warm-up is reported."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from regatta.judge.analyse import analyse
from regatta.judge.interval import Interval
from regatta.judge.results import Analysis
from regatta.judge.soundness.barred import ContenderWarmUp
from regatta.record.metrics import PRIMARY
from regatta.record.read import read
from regatta.record.steady import Slice
from regatta.show.charts import metric_rows, metric_spec, outlier_rows
from regatta.show.numbers import short
from regatta.show.soundness import MOST, outlier_sentence, outlier_table, warm_up_table
from tests.lab.reports import cells, section, summary_json, told
from tests.lab.synthetic import make
from tests.ledgers import change

FAR = 4.0
"""How many times the CPU time of one trial is made."""


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    path = make(tmp_path_factory.mktemp("far") / "ledger.sqlite", connections=[1, 10], requests=40)
    change(
        path,
        "UPDATE counter SET value = value * ? WHERE event = 'cpu-time' AND side = 'server' AND"
        " trial_id = (SELECT trial.id FROM trial JOIN cell ON cell.id = cell_id WHERE"
        " contender = 'select' AND connections = 10 AND block = 7)",
        FAR,
    )
    return analyse(read(path))


def test_an_outlier_is_listed_with_its_value_and_the_median(analysis: Analysis) -> None:
    (table,) = outlier_table(analysis)
    (row,) = [row for row in cells(table) if row[2] == PRIMARY.label and row[1] == "7"]
    assert "select" in row[0]
    assert float(row[5].split()[0]) == pytest.approx(FAR, rel=0.1)
    # By chance there may be one or two more.
    words = r"(1 outlier|\d outliers) in 72 trials \(.*select.*\), kept in every average"
    assert re.match(words, outlier_sentence(analysis))
    assert table in section(analysis, "Soundness of the trials").tables
    without = replace(analysis, outliers=[], warm_ups=[])
    assert outlier_sentence(without) == ""
    assert section(without, "Soundness of the trials").tables == ()


def test_only_the_most_extreme_outliers_are_listed(analysis: Analysis) -> None:
    one = max(analysis.outliers, key=lambda one: one.value / one.median)
    near = [replace(one, block=block, value=one.median * 1.1) for block in range(100)]
    (table,) = outlier_table(replace(analysis, outliers=[*near, one]))
    assert len(table.rows) == MOST
    assert cells(table)[0][1] == f"{one.block}"
    assert f"{101 - MOST} less extreme ones are in the JSON" in table.says


def test_an_outlier_is_a_ring_in_its_own_chart_only(analysis: Analysis) -> None:
    (group,) = analysis.groups
    far = outlier_rows(analysis, group, PRIMARY, "server")
    (ring,) = [row for row in far if row["design"] == "select" and row["step"] == 10]
    assert "block 7" in ring["trial"]
    assert outlier_rows(analysis, group, PRIMARY, "client") == []
    rows = metric_rows(group, PRIMARY, "server")
    with_ring = metric_spec(analysis, group, PRIMARY, "server")
    without = metric_spec(replace(analysis, outliers=[]), group, PRIMARY, "server")
    assert "block 7" not in json.dumps(without)
    of_rings, of_lines = (one["data"]["values"] for one in (with_ring["layer"][0], with_ring))
    assert (of_rings, of_lines) == ([*rows, *({**one, "far": True} for one in far)], rows)


def test_the_warm_up_table_has_each_contender(analysis: Analysis) -> None:
    slices = (Slice(0.25, 700, 200.0, 150.0), Slice(0.25, 700, 90.0, 120.0))
    select = ContenderWarmUp(
        *("select", "/", "closed", "warmed", 12_000, 2.4),
        *(20, 4, Interval(0.9, 0.88, 0.92), slices),
    )
    calm = {"kind": "flat", "requests": 0, "seconds": 0.0, "unsteady": 0}
    level = Interval(1.0, 0.99, 1.01)
    flat = replace(select, contender="iterative", moves=level, **calm)
    warm = replace(analysis, warm_ups=[select, flat])
    (table,) = warm_up_table(warm)
    assert [[*row[:6], row[-1]] for row in cells(table)] == [
        [
            *("select", "/", "warmed", "12,000", "2.4 s", "4 of 20"),
            "not steady in 4 of 20 processes",
        ],
        ["iterative", "/", "flat", "0", "0.0 s", "0 of 20", "warm"],
    ]
    assert table in section(warm, "Soundness of the trials").tables


def test_what_the_lab_used_is_in_the_view_and_the_json(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", connections=[10], requests=40)
    assert analyse(read(path)).lab_use is None, "an older ledger"
    sets = "UPDATE trial SET conditions = json_set(conditions, '$.lab_percent', ?)"
    change(path, sets, 1.0)
    change(path, f"{sets} WHERE id = 1", 8.2)
    found = analyse(read(path))
    mean = (8.2 + (found.trials - 1)) / found.trials
    says = f"mean {short(mean)} %, maximum 8.20 % of a CPU"
    assert f"used by the lab during windows  | {says}" in told(found)
    said = summary_json(path)["lab_use"]
    assert said == {"mean": pytest.approx(mean), "maximum": 8.2, "trials": found.trials}
