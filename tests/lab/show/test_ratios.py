"""A ratio has the digits of its interval, and the same digits everywhere."""

from dataclasses import replace
from pathlib import Path

import pytest

from regatta.judge.analyse import analyse
from regatta.judge.columns import AgainstBest
from regatta.judge.estimates import Estimate
from regatta.judge.interval import Interval
from regatta.judge.standings import LARGER, NO_DIFFERENCE
from regatta.record.metrics import PRIMARY, THROUGHPUT
from regatta.record.read import read
from regatta.show.numbers import (
    TOO_FEW_TO_SAY,
    around,
    between,
    more_than_one,
    ratio_around,
    ratio_cell,
    ratio_words,
)
from regatta.show.standings import relative_figures, seen_sentence
from regatta.show.verdicts import verdict_sentence
from tests.lab.synthetic import make


def against(ratio: Interval, outcome: str, metric: str = PRIMARY.name) -> AgainstBest:
    return AgainstBest(
        **vars(ratio),
        at=10,
        metric=metric,
        side="server",
        contender="select",
        best="epoll",
        scale="ratio",
        outcome=outcome,
    )


@pytest.mark.parametrize(
    ("value", "low", "high", "written", "interval"),
    [
        (1.016, 0.983, 1.051, "1.02", "0.98–1.05"),
        (1.016, 1.012, 1.021, "1.016", "1.012–1.021"),
        (1.06, 1.003, 1.12, "1.060", "1.003–1.120"),
        (0.97, 0.94, 0.998, "0.970", "0.940–0.998"),
        (1.06, 1.000001, 1.12, "1.06", "over 1, at most 1.12"),
        (0.97, 0.94, 1 - 1e-9, "0.97", "at least 0.94, under 1"),
        (1.0004, 1.000001, 1.0008, "1.0004", "over 1, at most 1.0008"),
        (0.0004, 0.0003, 0.0005, "0.00040", "0.00030–0.00050"),
        (12.34, 11.1, 13.7, "12.3", "11.1–13.7"),
    ],
)
def test_a_ratio_has_the_digits_that_its_interval_supports(
    value: float, low: float, high: float, written: str, interval: str
) -> None:
    ratio = Interval(value, low, high)
    assert ratio_cell(ratio) == f"{written}\n{interval}"
    assert ratio_around(against(ratio, LARGER))[0] == written


@pytest.mark.parametrize(
    ("value", "low", "high", "words"),
    [
        (1.284, 1.010, 1.632, ("1.28", ".27")),
        (1.06, 1.000001, 1.12, ("1.06", ".06")),
        (0.96, 0.70, 0.998, ("0.960", ".038")),
        (1.016, 0.983, 1.051, ("1.02", ".04")),
    ],
)
def test_the_half_width_of_a_significant_ratio_never_reaches_1(
    value: float, low: float, high: float, words: tuple[str, str]
) -> None:
    assert ratio_around(against(Interval(value, low, high), LARGER)) == words


def test_rounding_does_not_move_an_interval_across_a_claimed_bound() -> None:
    assert ratio_words(Interval(0.0100, 0.0096, 0.0104), 0.01) == "0.0100 (0.0096–0.0104)"
    ratio = Interval(2.3, 2.003, 2.6)
    assert between(ratio) == "2.00–2.60"
    assert ratio_words(ratio, 2.0) == "2.300 (2.003–2.600)"
    assert between(Interval(2.3, 2.000001, 2.6), 2.0) == "over 2, at most 2.60"


@pytest.mark.parametrize("select_us", [606.0, 640.0, 1900.0])
def test_table_and_sentence_format_a_ratio_alike(select_us: float, tmp_path: Path) -> None:
    costs = {"iterative": 600.0, "thread-per-client": 3000.0, "select": select_us}
    path = make(tmp_path / "ledger.sqlite", cpu_us=costs, connections=(10,), blocks=20)
    group = analyse(read(path)).groups[0]
    name = group.overall.runner_up
    value, interval = relative_figures(group, group.steps[0])[name, PRIMARY.name]
    said = verdict_sentence(group, group.overall)
    assert f" {value.strip('×≈ ')} times as much (95 % interval {interval})" in said
    (rival,) = [
        rival for rival in group.against if (rival.contender, rival.metric) == (name, PRIMARY.name)
    ]
    assert ratio_around(rival)[0] == value.strip("×≈ ")


def test_what_is_detectable_goes_from_small_to_large_where_more_is_better_too(
    tmp_path: Path,
) -> None:
    (group, *_) = analyse(read(make(tmp_path / "ledger.sqlite", connections=(10,)))).groups
    rival = against(Interval(1.0, 0.9, 1.1), NO_DIFFERENCE, metric=THROUGHPUT.name)
    found = [replace(rival, detectable=size) for size in (0.93, 0.99, 0.96)]
    assert "throughput 1.0 % to 7.0 %." in seen_sentence(replace(group, against=found), 10)


def test_a_half_width_covers_both_ends_and_is_never_shown_as_zero() -> None:
    for value, low, high, words in (
        (133.2, 96.3, 169.4, ("133", "37")),
        (34.57, 32.81, 36.31, ("34.6", "1.8")),
        (0.0531, 0.0502, 0.0561, ("0.053", "0.003")),
        (1_962_000, 1_950_000, 1_980_000, ("1.96 M", "0.02 M")),
        (500.0, 499.99, 500.01, ("500.0", "0.1")),
        (0.0, 0.0, 0.0, ("0", "0")),
        (531.0, 431.0, 5_895.0, ("531", "")),
        (3.0, None, None, ("3.00", "")),
    ):
        assert around(Estimate(value, low, high, 10, "measured")) == words
    assert around(Estimate(None, None, None, 0, "client-bound")) == ("client-bound", "")


def test_no_figure_is_beyond_a_thousand_percent() -> None:
    assert more_than_one(1.083) == "8.3 %"
    assert more_than_one(11.0) == "1,000 %"
    assert more_than_one(11.01) == more_than_one(None) == TOO_FEW_TO_SAY
    known = Interval(2400.0, 1900.0, 3100.0)
    assert between(known) == "1,900–3,100", "a large ratio that is well known"
    assert between(Interval(2.0, 1.5, 1e9)) == "over 1.50"
    assert between(Interval(2.0, 1e-9, 2.5)) == "under 2.50"
    assert between(Interval(2.0, 1e-9, 1e9)) == TOO_FEW_TO_SAY
