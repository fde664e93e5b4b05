"""Verdicts on claims, from made-up numbers and from synthetic ledgers."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regatta.judge.claims.claim_tests import NEAR_ZERO, FiellerRatio, hold_one
from regatta.judge.claims.comparisons import comparisons
from regatta.judge.claims.evidence import Evidence, RaceResults
from regatta.judge.claims.judge import decide, together
from regatta.judge.claims.make_test import powers, single_runs
from regatta.judge.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    ClaimPart,
)
from regatta.judge.claims.words import finding
from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS
from regatta.judge.statistics.joint import Mean, decide_jointly
from regatta.record.cell import Cell
from regatta.record.inputs import CellSelector
from regatta.record.study import Claim, parse_study
from regatta.record.study.find import Design
from tests.lab import synthetic

BLOCKS = 12
CPU = "cpu_time_per_request_us"
THREE = ("iterative", "select", "thread-per-client")
DESIGNS = [Design(name, "") for name in (*THREE, "fork-per-client")]

Found = dict[tuple[str, int], dict[int, float] | str]
"""By design and connections the number in each block, or why there is none."""


def make_claim(body: str, connections: Sequence[int] = (10,), scope: str = "window") -> Claim:
    cells = (
        f'name = "mine"\n[[cells]]\ndesigns = {json.dumps([*THREE, "fork-per-client"])}\n'
        f'connections = {list(connections)}\nengine = ["thread", "fork"]\nscope = "{scope}"\n'
    )
    text = f'[[claim]]\nid = "X1"\nsays = "So it is."\nconnections = {list(connections)}\n{body}'
    (found,) = parse_study(f"{cells}\n{text}", DESIGNS).claims
    return found


def evidence(values: Found, metric: str = CPU, side: str = "server") -> Evidence:
    """Of a race in which these numbers were found."""
    race = synthetic.SyntheticRace(contenders=list(dict.fromkeys(name for name, _ in values)))
    (like,) = synthetic.make_cells(replace(race, contenders=["select"], connections=[1]))
    cells: dict[CellSelector, Cell] = {}
    taken: dict[tuple[int, str, str], dict[int, float] | str] = {}
    for number, ((name, count), blocks) in enumerate(values.items(), start=1):
        cells[CellSelector(name, count)] = replace(
            like, contender=name, connections=count, id=number
        )
        taken[number, side, metric] = blocks
    return Evidence(RaceResults(list(cells.values()), {}, {}, {}, taken), "window", cells)


def noisy(mean: float, spread: float = 0.02, seed: int = 1) -> dict[int, float]:
    """Blocks whose mean is just this, and whose standard deviation is the spread's share of it."""
    values = np.random.default_rng([seed, int(mean * 1000)]).normal(0, 1, BLOCKS)
    values = (values - values.mean()) / values.std(ddof=1)
    return {at: float(mean * (1 + spread * value)) for at, value in enumerate(values, start=1)}


def at_ten(**means: float) -> Found:
    names = {"tpc": "thread-per-client", "fork": "fork-per-client"}
    return {(names.get(name, name), 10): noisy(mean) for name, mean in means.items()}


def beyond_iterative(more: dict[str, float], spread: float) -> Found:
    """The iterative server, and others that need so much more in the same blocks."""
    base = noisy(600, 0.05)
    values: Found = {("iterative", 10): base}
    for at, (name, mean) in enumerate(more.items()):
        over = noisy(1, spread, seed=at)
        values[name, 10] = {block: base[block] + mean * over[block] for block in base}
    return values


def judged(
    body: str, found: Evidence, connections: Sequence[int] = (10,)
) -> tuple[str, list[ClaimPart], tuple[int, int] | None]:
    asked = comparisons(make_claim(body, connections))
    ((verdict, parts),) = decide([(found, asked)])
    return verdict, parts, single_runs(found, asked)


ORDER = 'metric = "task_clock"\norder = ["select", "iterative", "thread-per-client"]'
EQUAL = 'metric = "task_clock"\norder = ["iterative~select", "thread-per-client"]'


@pytest.mark.parametrize(
    ("body", "means", "verdict"),
    [
        (ORDER, {"select": 600, "iterative": 640, "tpc": 720}, SUPPORTED),
        (ORDER, {"select": 700, "iterative": 640, "tpc": 720}, REFUTED),
        (ORDER, {"select": 640, "iterative": 640.2, "tpc": 720}, UNDECIDED),
        (EQUAL, {"select": 600, "iterative": 610, "tpc": 720}, SUPPORTED),
        (EQUAL, {"select": 600, "iterative": 690, "tpc": 720}, REFUTED),
        (EQUAL, {"select": 600, "iterative": 663, "tpc": 720}, UNDECIDED),
        (EQUAL, {"select": 600, "iterative": 610, "tpc": 560}, REFUTED),
    ],
)
def test_an_order_is_judged_by_all_of_its_parts(
    body: str, means: dict[str, float], verdict: str
) -> None:
    found, parts, _ = judged(body, evidence(at_ten(**means)))
    assert found == verdict
    assert found == together([part.verdict for part in parts])
    for part in parts:
        assert part.low <= part.value <= part.high
        assert_agrees(part)


def assert_agrees(part: ClaimPart) -> None:
    """The interval that is shown and the verdict say the same."""
    low, high = part.low, part.high
    under = part.claimed_low is not None and high < part.claimed_low
    over = part.claimed_high is not None and low > part.claimed_high
    above = part.claimed_low is None or low > part.claimed_low
    below = part.claimed_high is None or high < part.claimed_high
    assert (part.verdict == REFUTED) == (under or over)
    assert (part.verdict == SUPPORTED) == (above and below)


def test_undecided_parts_state_what_is_detectable() -> None:
    found, parts, runs = judged(ORDER, evidence(at_ten(select=640, iterative=641, tpc=720)))
    assert found == UNDECIDED
    assert parts[0].verdict == UNDECIDED
    assert 1.005 < parts[0].detectable < 1.1
    assert 0 < runs[0] < runs[1] == BLOCKS


def test_the_parts_of_a_claim_share_its_false_alarms() -> None:
    """With alike servers one table in twenty sees a difference."""
    generator = np.random.default_rng(5)
    alarms = 0
    for _ in range(300):
        values: Found = {
            (name, 10): dict(enumerate(generator.normal(640, 20, BLOCKS))) for name in THREE
        }
        _, parts, _ = judged(ORDER, evidence(values))
        alarms += any(part.verdict != UNDECIDED for part in parts)
    assert alarms / 300 < 0.08


def test_an_unsupported_counter_is_not_measurable_rather_than_zero() -> None:
    values = at_ten(select=600, iterative=640)
    values["thread-per-client", 10] = "not supported"
    found, parts, runs = judged(ORDER, evidence(values))
    assert found == NOT_MEASURABLE
    assert [part.verdict for part in parts] == [SUPPORTED, NOT_MEASURABLE]
    assert parts[1].reason == "not supported"
    assert parts[1].value is None
    assert runs is None


def test_a_claim_that_one_part_refutes_is_refuted_whatever_cannot_be_counted() -> None:
    values = at_ten(select=700, iterative=640)
    values["thread-per-client", 10] = "not supported"
    assert judged(ORDER, evidence(values))[0] == REFUTED


@pytest.mark.parametrize(("blocks", "verdict"), [(1, TOO_FEW), (5, TOO_FEW), (6, REFUTED)])
def test_fewer_blocks_than_six_decide_nothing(blocks: int, verdict: str) -> None:
    values: Found = {
        (name, 10): dict.fromkeys(range(blocks), 600.0 + 100 * at) for at, name in enumerate(THREE)
    }
    found, parts, _ = judged(ORDER, evidence(values))
    assert found == verdict
    for part in parts:
        assert (part.p_value is None) == (part.low is None) == (verdict == TOO_FEW)


@given(
    st.lists(st.sampled_from([560.0, 600.0, 630.0, 660.0, 700.0]), min_size=3, max_size=3),
    st.integers(1, 9),
)
@settings(max_examples=60)
def test_verdicts_agree_with_the_intervals_that_are_shown(means: list[float], blocks: int) -> None:
    """Of orders and of equality, of parts with blocks enough and without."""
    chance = np.random.default_rng(blocks)
    values: Found = {
        (name, 10): {block: mean * float(chance.normal(1, 0.02)) for block in range(blocks)}
        for mean, name in zip(means, THREE, strict=True)
    }
    for body in (ORDER, EQUAL):
        _, parts, _ = judged(body, evidence(values))
        for part in parts:
            if blocks < FEWEST_BLOCKS:
                assert part.verdict == TOO_FEW
            else:
                assert_agrees(part)


AT_LEAST = 'metric = "task_clock"\norder = ["select", "iterative"]\nat_least = 100'


@pytest.mark.parametrize(
    ("iterative", "verdict"), [(70_000, SUPPORTED), (6_400, REFUTED), (60_000, UNDECIDED)]
)
def test_an_order_may_claim_a_factor(iterative: float, verdict: str) -> None:
    found, parts, _ = judged(AT_LEAST, evidence(at_ten(select=600, iterative=iterative)))
    assert found == verdict
    assert parts[0].claimed_low == 100


OVER = 'metric = "task_clock_over_iterative"\n'
TENFOLD = OVER + 'ratio = ["fork-per-client", "select"]\nat_least = 10'


@pytest.mark.parametrize(
    ("select", "fork", "verdict"),
    [(610, 900, SUPPORTED), (690, 900, REFUTED), (599, 900, SUPPORTED), (640, 1010, UNDECIDED)],
)
def test_overheads_are_differences_that_may_be_0(select: float, fork: float, verdict: str) -> None:
    """Nothing at all is less than a tenth of something; its ratio has no upper end."""
    values = beyond_iterative({"select": select - 600, "fork-per-client": fork - 600}, 0.2)
    found, (part,), _ = judged(TENFOLD, evidence(values))
    assert found == verdict
    if select < 600:
        assert (part.value, part.high) == (None, None)
    else:
        assert part.value == pytest.approx((fork - 600) / (select - 600), rel=0.25)


def test_a_ratio_to_a_figure_that_may_be_0_is_bounded_on_one_side() -> None:
    first = noisy(1, 2.5)
    times = FiellerRatio(first, noisy(50))
    score = decide_jointly([times.against(1.0)]).score
    low, high = times.interval(score)
    assert high is None
    assert Mean.of_blocks(times.against(low)).interval(score)[0] == pytest.approx(0, abs=1e-6)


def test_counts_of_0_are_equal() -> None:
    nothing = dict.fromkeys(range(1, 9), 0.0)
    values: Found = {
        ("iterative", 10): nothing,
        ("select", 10): nothing,
        ("thread-per-client", 10): noisy(4),
    }
    body = EQUAL.replace("task_clock", "page_faults")
    stated = f'{body}\nwithin = ["10 %", "0.1 page faults"]'
    found, parts, runs = judged(stated, evidence(values, "page_faults_per_request"))
    assert found == SUPPORTED
    assert [part.scale for part in parts] == ["difference"] * 3
    assert (parts[0].claimed_low, parts[0].claimed_high) == (-0.1, 0.1)
    assert runs == (8, 8)


def test_a_relative_margin_of_a_figure_that_may_be_0_decides_nothing() -> None:
    """Report C's third claim: 0.001 page faults beside 14 of a thread."""
    values: Found = {
        ("iterative", 10): {block: 0.0 if block % 3 else 0.003 for block in range(1, 9)},
        ("select", 10): dict.fromkeys(range(1, 9), 0.0),
        ("thread-per-client", 10): noisy(14),
    }
    body = EQUAL.replace("task_clock", "page_faults")
    found, parts, _ = judged(body, evidence(values, "page_faults_per_request"))
    assert found == UNDECIDED
    assert [part.verdict for part in parts] == [UNDECIDED, SUPPORTED, SUPPORTED]
    assert parts[0].reason == NEAR_ZERO


def test_an_overhead_may_be_equal_to_another_within_a_share() -> None:
    more = {"select": 400.0, "fork-per-client": 405.0, "thread-per-client": 500.0}
    values = beyond_iterative(more, 0.01)
    equal = OVER + 'order = ["select~fork-per-client", "thread-per-client"]'
    found, parts, _ = judged(equal, evidence(values))
    assert (found, parts[0].scale) == (SUPPORTED, "ratio")
    unequal = OVER + 'order = ["select~thread-per-client", "fork-per-client"]'
    assert judged(unequal, evidence(values))[1][0].verdict == REFUTED


@pytest.mark.parametrize(("thread", "direction"), [(480.0, "more"), (320.0, "less")])
def test_a_difference_is_worded_in_its_direction(thread: float, direction: str) -> None:
    """No sentence says that one has -80 more."""
    found = evidence(beyond_iterative({"select": 400.0, "thread-per-client": thread}, 0.01))
    asked = comparisons(make_claim(OVER + 'order = ["select", "thread-per-client"]', (10,)))
    ((_, (part,)),) = decide([(found, asked)])
    said = finding(asked[0], part, " us")
    assert re.search(
        rf"thread-per-client has 80 \([\d.]+ to [\d.]+\) us {direction} CPU time than select$",
        said,
    )


def test_not_significant_does_not_mean_equal() -> None:
    """Two alike, so noisy that no test tells them apart."""
    values: Found = {
        ("iterative", 10): noisy(600, 0.2, 1),
        ("select", 10): noisy(600, 0.2, 2),
        ("thread-per-client", 10): noisy(9000),
    }
    assert judged(EQUAL, evidence(values))[1][0].verdict == UNDECIDED


LINEAR = 'metric = "latency_max"\nshape = "linear"\ndesigns = ["iterative"]'


@pytest.mark.parametrize(
    ("power", "verdict"), [(1.0, SUPPORTED), (0.95, SUPPORTED), (1.5, REFUTED), (0.0, REFUTED)]
)
def test_linear_means_proportional_to_connections(power: float, verdict: str) -> None:
    counts = (1, 10, 25, 50)
    values: Found = {
        ("iterative", count): noisy(0.7 * count**power, 0.05, seed=count) for count in counts
    }
    found, (part,), runs = judged(LINEAR, evidence(values, "burst_time_ms", "client"), counts)
    assert found == verdict
    assert part.scale == "exponent"
    assert part.value == pytest.approx(power, abs=0.05)
    assert runs == ((BLOCKS, BLOCKS) if verdict == SUPPORTED else (0, BLOCKS))


def test_growth_needs_blocks_that_have_every_number_of_connections() -> None:
    found = powers({1: {1: 1.0}, 10: {2: 9.0}, 25: {3: 20.0}})
    assert hold_one(found, "exponent") == "too few blocks in common"


# ---- from end to end
