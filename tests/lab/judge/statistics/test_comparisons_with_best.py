"""Comparisons with the best: error rate and power, and agreement of stars and columns."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regatta.judge.columns import Column, against_best
from regatta.judge.estimates import CLIENT_BOUND
from regatta.judge.standings import (
    ALONE,
    FAILED,
    LARGER,
    NO_DIFFERENCE,
    NOT_COMPARED,
    ONLY,
    RIVALS,
    TOO_FEW,
    TOO_SLOW,
    Verdict,
    verdicts,
)
from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS
from regatta.judge.statistics.comparisons_with_best import Standing, standings
from regatta.judge.statistics.joint import PairedMean
from regatta.judge.statistics.sign_flips import sign_flips
from regatta.record.metrics import PRIMARY
from regatta.show.verdicts import mark
from tests.lab.synthetic import Entry

Values = dict[str, dict[int, float]]


def by_block(rows: dict[str, list[float]]) -> Values:
    return {name: dict(enumerate(row, start=1)) for name, row in rows.items()}


def entries(values: Values) -> dict[str, Entry]:
    return {name: Entry(figures) for name, figures in values.items()}


def decided(values: Values) -> Verdict:
    return verdicts({1: entries(values)})[1]


def stars(verdict: Verdict, names: set[str]) -> dict[str, str]:
    return {name: star for name in names if (star := mark(verdict, name))}


def bursty(chance: np.random.Generator) -> Values:
    """A calm one; one 5 % cheaper with bursts; one 6 % dearer."""
    rows = {name: chance.lognormal(0, 0.01, 10) for name in "abc"}
    rows["b"] *= 0.95 * (1 + np.where(chance.random(10) < 0.2, chance.exponential(0.7, 10), 0))
    rows["c"] *= 1.06
    return by_block({name: [float(value) for value in row] for name, row in rows.items()})


def test_bursts_of_the_cheapest_give_no_star_to_the_second() -> None:
    """Comparing the first with the second alone gives it to the calm one in two of five races."""
    chance = np.random.default_rng(7)
    wrong = before = 0
    for _ in range(400):
        values = bursty(chance)
        verdict = decided(values)
        wrong += "b" not in verdict.best
        rows = {name: np.array(list(figures.values())) for name, figures in values.items()}
        first, second, _ = sorted(rows, key=lambda name: rows[name].sum())
        lead = PairedMean(np.log(rows[second] / rows[first]))
        before += lead.p_value() <= 0.05 and first == "a"
    assert wrong <= 0.05 * 400
    assert before > 0.3 * 400


@pytest.mark.parametrize(("contenders", "tables"), [(3, 1000), (17, 200)])
def test_equals_are_called_worse_in_few_tables(contenders: int, tables: int) -> None:
    """Each with its own noise; five times in a hundred, and what chance adds to so few tables."""
    chance = np.random.default_rng(9)
    spread = chance.uniform(0.005, 0.04, (contenders, 1))
    wrong = 0
    for _ in range(tables):
        logs = chance.standard_t(4, (contenders, 10)) * spread
        named = {f"{row}": dict(enumerate(map(float, figures))) for row, figures in enumerate(logs)}
        wrong += any(standing.worse for standing in standings([[named]])[0].values())
    assert wrong / tables <= 0.05 + 2.3 * math.sqrt(0.05 * 0.95 / tables)


COST = st.sampled_from([0.8, 0.9, 1.0, 1.1, 1.5])
VALUES = st.floats(0.9, 1.1).map(lambda value: round(value, 4))


@st.composite
def tables(draw: st.DrawFn) -> dict[int, Values]:
    """Some contenders at some steps, some blocks missing."""
    names = [f"d{number}" for number in range(draw(st.integers(1, 4)))]
    blocks = draw(st.integers(0, 8))
    found: dict[int, Values] = {}
    for step in range(draw(st.integers(1, 2))):
        found[step] = {}
        for name in names:
            cost = draw(COST)
            row = [cost * draw(VALUES) for _ in range(blocks)]
            left = draw(st.sets(st.integers(1, 8), max_size=2))
            figures = {
                block: value for block, value in enumerate(row, start=1) if block not in left
            }
            found[step][name] = figures
    return found


def columns(table: dict[int, Values]) -> list[Column]:
    return [
        Column(
            step,
            PRIMARY,
            {
                name: sum(figures.values()) / len(figures)
                for name, figures in values.items()
                if figures
            },
            {name: figures for name, figures in values.items() if figures},
        )
        for step, values in table.items()
    ]


@given(tables())
@settings(max_examples=150)
def test_stars_and_the_columns_agree(table: dict[int, Values]) -> None:
    by_step, _ = verdicts({step: entries(values) for step, values in table.items()})
    against = against_best(columns(table), [verdict.standing_of for verdict in by_step])
    for verdict in by_step:
        rows = {standing.contender: standing for standing in against if standing.at == verdict.at}
        starred = set(stars(verdict, set(table[verdict.at or 0])))
        alike = {name for name, standing in rows.items() if standing.outcome == NO_DIFFERENCE}
        shown = {name for name, standing in rows.items() if standing.outcome == LARGER}
        assert shown == set(verdict.worse)
        assert not shown & starred
        if starred:
            assert alike | {verdict.front} >= starred
            assert alike <= starred
        for standing in rows.values():
            if standing.low is not None:
                assert (standing.outcome == LARGER) == (standing.low > 1)
                assert standing.low <= standing.high
        if "★" in stars(verdict, starred).values():
            assert len(starred) == 1
            assert set(verdict.worse) == set(table[verdict.at or 0]) - starred


@given(tables())
@settings(max_examples=100)
def test_at_least_one_contender_may_be_the_best(table: dict[int, Values]) -> None:
    by_step, _ = verdicts({step: entries(values) for step, values in table.items()})
    for verdict, values in zip(by_step, table.values(), strict=True):
        assert bool(verdict.best or verdict.rivals) == bool(values)
        assert (verdict.front is not None) == any(values.values())


@given(st.lists(st.tuples(VALUES, VALUES), min_size=8, max_size=8), COST, COST)
@settings(max_examples=150)
def test_a_contender_worse_at_every_step_is_worse_overall(
    noise: list[tuple[float, float]], first: float, second: float
) -> None:
    """Whatever the noise of the steps has in common, and however far they are apart."""
    table = {
        step: entries(by_block({"a": [1.0] * 8, "b": [cost * each[step] for each in noise]}))
        for step, cost in ((0, first), (1, second))
    }
    by_step, overall = verdicts(table)
    for name in ("a", "b"):
        if all(verdict.worse == (name,) for verdict in by_step):
            assert overall.worse == (name,)


def test_a_generalist_may_win_over_all_steps() -> None:
    def near(cost: float, seed: int) -> dict[int, float]:
        noise = np.random.default_rng(seed).lognormal(0, 0.01, 10)
        return dict(enumerate(map(float, cost * noise)))

    table = {
        1: entries({"a": near(1.0, 1), "b": near(3.0, 2), "c": near(1.1, 3)}),
        2: entries({"a": near(3.0, 4), "b": near(1.0, 5), "c": near(1.1, 6)}),
    }
    by_step, overall = verdicts(table)
    assert [verdict.best for verdict in by_step] == [("a",), ("b",)]
    assert overall.best == ("c",)


@pytest.mark.parametrize(("blocks", "outcome"), [(5, TOO_FEW), (6, LARGER)])
def test_six_blocks_can_tell_and_five_cannot(blocks: int, outcome: str) -> None:
    values = by_block({"a": [1.0] * blocks, "b": [2.0] * blocks, "c": [3.0] * blocks})
    verdict = decided(values)
    assert verdict.outcome == outcome
    assert bool(stars(verdict, {"a", "b", "c"})) == (blocks >= FEWEST_BLOCKS)


def at(cost: float, first: int = 1) -> dict[int, float]:
    return dict.fromkeys(range(first, first + 8), cost)


@pytest.mark.parametrize(
    ("third", "outcome", "rivals", "runner_up"),
    [
        (Entry({}, FAILED), RIVALS, {"c": FAILED}, "b"),
        (Entry({}, TOO_SLOW), RIVALS, {"c": TOO_SLOW}, "b"),
        (Entry(at(1.5), TOO_SLOW), RIVALS, {"c": TOO_SLOW}, "b"),
        (Entry(at(1.5), CLIENT_BOUND), LARGER, {}, "c"),
        (Entry(at(5.0, first=20)), RIVALS, {"c": TOO_FEW}, "c"),
    ],
    ids=["failed", "too slow", "dear at another load", "dear and client-bound", "no block shared"],
)
def test_a_third_that_may_be_as_good_takes_the_star(
    third: Entry, outcome: str, rivals: dict[str, str], runner_up: str
) -> None:
    _, verdict = verdicts({1: {"a": Entry(at(1.0)), "b": Entry(at(2.0)), "c": third}})
    assert (verdict.outcome, verdict.rivals, verdict.runner_up) == (outcome, rivals, runner_up)
    assert set(verdict.worse) == {"b", "c"} - rivals.keys()
    assert stars(verdict, {"a", "b", "c"}) == ({} if rivals else {"a": "★"})


def test_compared_contenders_have_stars_despite_a_failed_rival() -> None:
    chance = np.random.default_rng(2)
    values = by_block({name: [float(v) for v in chance.lognormal(0, 0.1, 8)] for name in "ab"})
    _, verdict = verdicts({1: entries(values) | {"c": Entry({}, FAILED)}})
    assert (verdict.outcome, verdict.rivals) == (NO_DIFFERENCE, {"c": FAILED})
    assert stars(verdict, {"a", "b", "c"}) == {"a": "☆", "b": "☆"}


def test_a_contender_too_slow_at_one_step_is_a_rival_overall() -> None:
    values = by_block({"a": [1.0] * 8, "b": [2.0] * 8})
    dear = dict.fromkeys(range(1, 9), 3.0)
    table = {
        1: entries(values) | {"c": Entry(dear)},
        2: entries(values) | {"c": Entry(dear, TOO_SLOW)},
    }
    _, verdict = verdicts(table)
    assert (verdict.outcome, verdict.rivals) == (RIVALS, {"c": TOO_SLOW})


@pytest.mark.parametrize(
    ("others", "outcome", "rivals"),
    [({}, ALONE, {}), ({"b": Entry({}, FAILED)}, ONLY, {"b": FAILED})],
)
def test_a_contender_is_not_its_own_rival(
    others: dict[str, Entry], outcome: str, rivals: dict[str, str]
) -> None:
    _, verdict = verdicts({1: entries(by_block({"a": [1.0] * 8})) | others})
    assert (verdict.outcome, verdict.best, verdict.rivals) == (outcome, ("a",), rivals)
    assert not stars(verdict, {"a", "b"})


def test_the_first_of_the_best_is_so_by_its_ratios() -> None:
    """One burst makes its mean the larger one, and not the mean of its logarithms."""
    values = by_block({"a": [0.9] * 9 + [2.0], "b": [1.0] * 10})
    verdict = decided(values)
    assert (verdict.front, verdict.best) == ("a", ("a", "b"))
    (standing,) = against_best(columns({1: values}))
    assert standing.best == "a"


def test_a_difference_beyond_1000_percent_is_no_figure() -> None:
    chance = np.random.default_rng(13)
    wild = by_block({name: [float(v) for v in chance.lognormal(0, 3, 6)] for name in "ab"})
    verdict = decided(wild)
    assert (verdict.outcome, verdict.detectable) == (NO_DIFFERENCE, None)
    (standing,) = against_best(columns({1: wild}), None)
    assert standing.detectable is None


def test_ten_blocks_use_all_sign_flips_and_more_blocks_a_sample() -> None:
    assert {tuple(row) for row in sign_flips(4).tolist()} == set(product((1, -1), repeat=4))
    many = sign_flips(20)
    assert many.shape == (4096, 20)
    assert set(many[0].tolist()) == {1}
    assert abs(float(many.mean())) < 0.02


def reference(logs: np.ndarray) -> list[bool]:
    """The same, step by step and pair by pair, of a table without gaps."""
    count, blocks = logs.shape
    ways = np.array(list(product((1, -1), repeat=blocks)))

    def behind(row: int) -> np.ndarray:
        scores = []
        for other in set(range(count)) - {row}:
            apart = logs[row] - logs[other]
            scores.append(ways @ apart / math.sqrt(float(apart @ apart)))
        return np.max(scores, axis=0)

    chance = {row: behind(row) for row in range(count)}
    left = set(range(count))
    worse = [False] * count
    while len(left) > 1:
        row = max(left, key=lambda other: chance[other][0])
        largest = np.max([chance[other] for other in left], axis=0)
        if (largest >= chance[row][0] - 1e-9).mean() > 0.05:
            break
        worse[row] = True
        left.remove(row)
    return worse


@pytest.mark.parametrize("seed", range(12))
def test_the_steps_are_those_of_the_reference(seed: int) -> None:
    chance = np.random.default_rng(seed)
    logs = chance.normal(0, 0.02, (5, 8)) + chance.uniform(0, 0.06, (5, 1))
    named = {f"{row}": dict(enumerate(map(float, figures))) for row, figures in enumerate(logs)}
    found: dict[str, Standing] = standings([[named]])[0]
    assert [found[f"{row}"].worse for row in range(5)] == reference(logs)


def test_the_reference_served_the_load() -> None:
    values = by_block({"slow": [0.5] * 8, "a": [1.0] * 8, "b": [1.5] * 8, "dear": [3.0] * 8})
    (column,) = columns({1: values})
    whole = standings([[column.losses]])
    barred = replace(column, barred={"slow", "dear"})
    for decided in (None, whole):
        found = {standing.contender: standing for standing in against_best([barred], decided)}
        assert {standing.best for standing in found.values()} == {"a"}
        assert found["b"].value == pytest.approx(1.5)
        assert found["dear"].value == pytest.approx(3.0)
        assert (found["slow"].value, found["slow"].outcome) == (None, NOT_COMPARED)
    everybody = replace(column, barred=set(values))
    assert {standing.best for standing in against_best([everybody])} == {"slow"}
