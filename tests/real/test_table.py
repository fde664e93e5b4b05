"""When a race and the truth agree."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.real.figures import Estimate, Figures, estimate
from tests.real.race import Raced, interval
from tests.real.table import Row, markdown, rates, store, stored
from tests.real.truth import Place

TRUE = Figures(Estimate(1.5, 1.4, 1.6), (100, 150), (Estimate(200, 190, 210),) * 2)
PLACE = Place("0", "1", 3000)


def row(said: Figures, winner: str | None, **truth: Figures) -> Row:
    both = {"oha": TRUE, "regatta-client": TRUE} | truth
    return Row("a", "b", Raced(said, winner, PLACE, 60.0), both)


def faults(said: Figures, winner: str | None = "a") -> list[str]:
    return list(row(said, winner).faults())


def ratio(value: float, low: float, high: float) -> Figures:
    return replace(TRUE, ratio=Estimate(value, low, high))


def test_the_truth_itself_agrees() -> None:
    assert faults(TRUE) == []


def test_a_ratio_may_be_off_by_5_percent_or_overlap() -> None:
    assert faults(ratio(1.43, 1.39, 1.45)) == []
    assert faults(ratio(1.2, 1.0, 1.41)) == []
    assert len(faults(ratio(1.3, 1.2, 1.39))) == 2


def test_a_wrong_winner_is_a_fault_however_wide_the_intervals() -> None:
    assert faults(ratio(1.2, 0.9, 1.5), None) == []
    assert len(faults(ratio(1.2, 0.9, 1.5), "b")) == 2


def test_where_the_clients_contradict_each_other_the_one_that_paces_alike_decides() -> None:
    other = ratio(0.8, 0.75, 0.85)
    assert list(row(TRUE, "a", oha=other).faults()) == []
    assert len(list(row(other, "b", oha=other).faults())) == 2


def test_p50_is_compared_with_that_of_the_client_that_paces_alike() -> None:
    off = replace(TRUE, p50_us=(Estimate(200, 190, 210), Estimate(250, 240, 260)))
    assert faults(off) == ["p50 of b"]
    assert list(row(TRUE, "a", oha=off).faults()) == []


def test_a_race_without_figures_is_a_fault() -> None:
    assert list(Row("a", "b", "no figures", {}).faults()) == ["no figures"]


def test_an_interval_may_have_no_end() -> None:
    assert interval({"value": 2, "low": None, "high": None}, 10) == Estimate(20, 0, math.inf)
    assert interval({"value": None, "low": 3, "high": None}) == Estimate(3, 3, math.inf)
    with pytest.raises(LookupError):
        interval({"value": None, "low": None, "high": None})


def test_an_estimate_is_the_mean_of_ratios() -> None:
    found = estimate([0.5, 2.0, 1.0])
    assert round(found.value, 9) == 1
    assert found.low < 0.5
    assert found.high > 2


def test_rows_are_stored_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    rows = [Row("a", "b", "no figures", {}), row(TRUE, "a")]
    for one in rows:
        store(one, path)
    assert stored(path) == rows
    assert markdown(stored(path)).endswith("|agree")


def test_the_rates_count_right_winners_and_near_ratios() -> None:
    races = [
        row(TRUE, "a"),
        row(ratio(1.47, 1.46, 1.48), "a"),
        row(ratio(0.9, 0.8, 0.95), "b"),
        row(ratio(1.3, 0.9, 1.55), None),
        Row("a", "b", "no figures", {}),
    ]
    (line,) = rates(races)
    assert "of 5 races 2 name the right winner, 1 the wrong one" in line
    assert "within 3 % of the truth in 2, within its interval in 2" in line
    assert list(rates(races[:1])) == []
