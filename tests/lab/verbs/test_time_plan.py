"""As many processes as fit are raced: fewer and longer ones where warming takes long."""

import pytest

from regatta.measure.race.run_plan import MOST_SPOILT
from regatta.measure.trial.warming import FirstProcess, WarmUps
from regatta.record.steady import WARMED, Slice, WarmUp
from regatta.record.study import Study, parse_study
from regatta.verbs.servers.wanted import LONG_S, fit

TEXT = """
name = "two"
[race]
blocks = 6
most_blocks = 50
width_percent = 5
counted_blocks = 1
[contenders.a]
command = ["a", "{port}"]
[contenders.b]
command = ["b", "{port}"]
[[cells]]
contenders = ["a", "b"]
connections = 10
dialect = "http"
work = "snapshot"
load = "open"
rate = 1000
duration_s = 1
path = "/"
"""


def raced() -> Study:
    return parse_study(TEXT, ())


def warmed(seconds: float) -> WarmUps:
    found = WarmUps(30.0)
    for cell in raced().cells:
        slices = [Slice(0.25, 250, 100.0, 200.0)] * 20
        requests = round(seconds * 1000)
        found.learn(FirstProcess(cell, WarmUp(WARMED, requests, seconds), slices))
    return found


def test_what_is_warm_soon_is_raced_in_many_processes() -> None:
    study = fit(raced(), warmed(0.5), 100.0, needs_flips=False, say=lambda _: None)
    assert study.blocks == 6
    assert 6 < study.most_blocks <= 50
    assert not study.few_blocks
    assert {cell.duration_s for cell in study.cells} == {1.0}


@pytest.mark.parametrize("left_s", [5.0, 60.0, 100.0])
def test_what_takes_long_to_warm_is_raced_in_fewer_and_longer_ones(left_s: float) -> None:
    study = fit(raced(), warmed(12.0), left_s, needs_flips=False, say=lambda _: None)
    assert study.few_blocks
    assert study.blocks == 3
    assert study.blocks + MOST_SPOILT <= study.most_blocks < 6
    assert {cell.duration_s for cell in study.cells} == {LONG_S}


def test_a_verdict_that_needs_sign_flips_gets_its_blocks() -> None:
    study = fit(raced(), warmed(12.0), 60.0, needs_flips=True, say=lambda _: None)
    assert (study.blocks, study.few_blocks) == (6, False)
