"""Outliers are named and kept; the warm-up and what the lab used are reported."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from regatta.judge.analyse import analyse
from regatta.judge.interval import Interval
from regatta.judge.soundness.barred import ContenderWarmUp
from regatta.judge.soundness.clients import SharedLoads
from regatta.record.metrics import PRIMARY
from regatta.record.read import read
from regatta.record.steady import Slice
from regatta.show.numbers import short
from regatta.show.soundness import clients_sentence
from tests.lab.reports import cells, section, summary_json, tables, told
from tests.lab.synthetic import make
from tests.ledgers import change

TITLE = "Soundness of the trials"
FAR = 4.0
"""How many times the CPU time of one trial is made."""


def test_an_outlier_is_named_and_in_the_json(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", connections=[1, 10], requests=40)
    change(
        path,
        "UPDATE counter SET value = value * ? WHERE event = 'cpu-time' AND side = 'server' AND"
        " trial_id = (SELECT trial.id FROM trial JOIN cell ON cell.id = cell_id WHERE"
        " contender = 'select' AND connections = 10 AND block = 7)",
        FAR,
    )
    analysis = analyse(read(path))
    soundness = section(analysis, TITLE)
    # By chance there may be one or two more.
    words = r"(1 outlier|\d outliers) in 72 trials \(.*select.*\), .* kept in every average"
    assert any(re.match(words, text) for text in soundness.text)
    far = next(
        found
        for found in summary_json(path)["outliers"]
        if (found["contender"], found["metric"], found["block"]) == ("select", PRIMARY.name, 7)
    )
    assert far["value"] / far["median"] == pytest.approx(FAR, rel=0.1)
    without = section(replace(analysis, outliers=[]), TITLE)
    assert not any("outlier" in text for text in without.text)
    assert without.tables == ()


def test_the_warm_up_table_has_each_contender(tmp_path: Path) -> None:
    analysis = analyse(read(make(tmp_path / "ledger.sqlite", connections=[10], requests=40)))
    slices = (Slice(0.25, 700, 200.0, 150.0), Slice(0.25, 700, 90.0, 120.0))
    select = ContenderWarmUp(
        *("select", "/", "closed", "warmed", 12_000, 2.4),
        *(20, 4, Interval(0.9, 0.88, 0.92), slices),
    )
    calm = {"kind": "flat", "requests": 0, "seconds": 0.0, "unsteady": 0}
    level = Interval(1.0, 0.99, 1.01)
    flat = replace(select, contender="iterative", moves=level, **calm)
    (table,) = tables(replace(analysis, warm_ups=[select, flat]), "Warm-up")
    assert [[*row[:6], row[-1]] for row in cells(table)] == [
        [
            *("select", "/", "warmed", "12,000", "2.4 s", "4 of 20"),
            "not steady in 4 of 20 processes",
        ],
        ["iterative", "/", "flat", "0", "0.0 s", "0 of 20", "warm"],
    ]


def test_several_clients_are_a_sentence(tmp_path: Path) -> None:
    analysis = analyse(read(make(tmp_path / "ledger.sqlite", connections=[10], requests=40)))
    assert clients_sentence(analysis) == ""
    shared = replace(analysis, shared_loads=SharedLoads(2, 0.42, skew_p99_ns=1_500_000))
    (says,) = (text for text in section(shared, TITLE).text if "shared each load" in text)
    assert says.startswith("2 clients shared each load, and used at most 42 % of their CPU;")
    assert "within 1.50 ms of each other in 99 % of trials" in says


def test_what_the_lab_used_is_in_the_view_and_the_json(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", connections=[10], requests=40)
    assert analyse(read(path)).lab_use is None
    sets = "UPDATE trial SET conditions = json_set(conditions, '$.lab_percent', ?)"
    change(path, sets, 1.0)
    change(path, f"{sets} WHERE id = 1", 8.2)
    found = analyse(read(path))
    mean = (8.2 + (found.trials - 1)) / found.trials
    says = f"mean {short(mean)} %, maximum 8.20 % of a CPU"
    assert f"used by the lab during windows  | {says}" in told(found)
    said = summary_json(path)["lab_use"]
    assert said == {"mean": pytest.approx(mean), "maximum": 8.2, "trials": found.trials}
