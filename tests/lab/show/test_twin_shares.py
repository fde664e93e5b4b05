"""The share of a design's cost that its bare twin has too."""

import re
from pathlib import Path

import pytest

from regatta.errors import StudyError
from regatta.judge.results import Analysis
from regatta.judge.twins import TwinShare, twin_shares
from tests.lab import fake_races, reports
from tests.lab.reports import analysed, told
from tests.lab.synthetic import make

STUDY = """
name = "mine"
[contenders.bare]
command = ["true", "{port}"]
path = "/"
twin_of = "TWIN"
[[cells]]
contenders = ["bare"]
dialect = "http"
load = "burst"
connections = 1
"""
TWIN = '[contenders.bare]\ncommand = ["true", "{port}"]\ntwin_of = "TWIN"\n'
RACE = {
    "contenders": ["select", "bare", "iterative"],
    "connections": [10, 100],
    "blocks": 8,
    "study": TWIN.replace("TWIN", "select"),
}


def made(folder: Path, bare_us: float = 312.0, **changes: object) -> Path:
    cpu_us = {"select": 428.0, "bare": bare_us, "iterative": 300.0}
    return make(folder / "ledger.sqlite", cpu_us=cpu_us, **{**RACE, **changes})


def shares(analysis: Analysis) -> list[TwinShare]:
    return twin_shares(analysis.groups[0], analysis.names.twins)


def test_the_share_is_that_of_the_twin_at_the_same_step(tmp_path: Path) -> None:
    analysis = analysed(made(tmp_path))
    tables = reports.tables(analysis, "Cost of the strategy")
    for at, share, table in zip((10, 100), shares(analysis), tables, strict=True):
        assert (share.at, share.design, share.twin) == (at, "select", "bare")
        assert share.ratio.low < share.ratio.value < share.ratio.high
        assert share.ratio.value == pytest.approx(share.us / share.twin_us, rel=0.01)
        assert share.ratio.low < 428 / 312 < share.ratio.high * 1.05
        ((design, ratio, us, twin_us),) = reports.cells(table)
        assert design == "select"
        assert re.match(r"1\.\d+\n1\.\d+–1\.\d+", ratio)
        assert 400 < float(us) < 500
        assert 300 < float(twin_us) < 400


@pytest.mark.parametrize(
    "changes",
    [
        {"study": ""},
        {"study": TWIN.replace("TWIN", "poll")},
        {"fail": {("bare", at, block) for at in (10, 100) for block in range(1, 11)}},
    ],
    ids=["none", "its design was not raced", "it failed"],
)
def test_without_a_pair_there_is_no_table(tmp_path: Path, changes: dict[str, object]) -> None:
    analysis = analysed(made(tmp_path, **changes))
    assert shares(analysis) == []
    assert "the strategy" not in told(analysis)


def test_a_contender_says_whose_twin_it_is(tmp_path: Path) -> None:
    study = fake_races.parse(STUDY.replace("TWIN", "select"), tmp_path)
    assert study.contenders["bare"].twin_of == "select"
    with pytest.raises(StudyError, match=r"contenders\.bare\.twin_of"):
        fake_races.parse(STUDY.replace("TWIN", "nginx"), tmp_path)
