"""Verdicts on claims of every form, from made-up numbers."""

import json
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regatta.judge.claims.claim_tests import NEAR_ZERO, FiellerRatio, gaps_of
from regatta.judge.claims.comparisons import comparisons
from regatta.judge.claims.judge import decide, together
from regatta.judge.claims.make_test import NO_EXPONENT, single_runs
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
from regatta.judge.statistics.percentile_comparison import (
    TOO_FEW_BLOCKS,
    TOO_FEW_REQUESTS,
    one_percentile,
)
from regatta.judge.statistics.percentiles import RequestLatencies
from regatta.record.study import Claim, parse_study
from regatta.record.study.find import Design
from tests.lab.claim_form_error_rate import evidence_of, wrong_tables

BLOCKS = 12
THREE = ("iterative", "select", "thread-per-client")
NAMES = {"tpc": "thread-per-client", "fork": "fork-per-client"}
DESIGNS = [Design(name, "") for name in (*THREE, "fork-per-client")]
MEASURED = {
    "task_clock": ("cpu_time_per_request_us", "server"),
    "page_faults": ("page_faults_per_request", "server"),
    "latency_max": ("burst_time_ms", "client"),
}
"""How a claim's metric is measured, and of which side."""

Found = Mapping[tuple[str, int], dict[int, float] | str]
"""By design and connections the number in each block, or why there is none."""
Judged = tuple[str, list[ClaimPart], tuple[int, int] | None]


def make_claim(body: str, connections: Sequence[int] = (10,), scope: str = "window") -> Claim:
    cells = (
        f'name = "mine"\n[[cells]]\ndesigns = {json.dumps([*THREE, "fork-per-client"])}\n'
        f'connections = {list(connections)}\nengine = ["thread", "fork"]\nscope = "{scope}"\n'
    )
    text = f'[[claim]]\nid = "X1"\nsays = "So it is."\nconnections = {list(connections)}\n{body}'
    (found,) = parse_study(f"{cells}\n{text}", DESIGNS).claims
    return found


def noisy(mean: float, spread: float = 0.02, seed: int = 1) -> dict[int, float]:
    """Blocks whose mean is just this, and whose standard deviation is the spread's share of it."""
    values = np.random.default_rng([seed, int(mean * 1000)]).normal(0, 1, BLOCKS)
    values = (values - values.mean()) / values.std(ddof=1)
    return {at: float(mean * (1 + spread * value)) for at, value in enumerate(values, start=1)}


def over(**means: Mapping[int, float]) -> Found:
    """Of each design, at each number of connections."""
    return {
        (NAMES.get(name, name), count): noisy(mean, seed=100 * at + count)
        for at, (name, by_count) in enumerate(means.items())
        for count, mean in by_count.items()
    }


def at_ten(**means: float) -> dict[tuple[str, int], dict[int, float] | str]:
    return {(NAMES.get(name, name), 10): noisy(mean) for name, mean in means.items()}


def judged(body: str, found: Found) -> Judged:
    """What a race in which these numbers were found says of a claim."""
    metric = re.search(r'metric = "(.*?)(?:_over_iterative)?"', body)
    assert metric is not None
    evidence = evidence_of({MEASURED[metric[1]]: found})
    asked = comparisons(make_claim(body, sorted({count for _, count in found})))
    ((verdict, parts),) = decide([(evidence, asked)])
    assert verdict == together([part.verdict for part in parts])
    for comparison, part in zip(asked, parts, strict=True):
        assert finding(comparison, part, " us").startswith(part.label.partition(":")[0])
        if part.low is not None and part.high is not None:
            assert part.low <= part.value <= part.high
        if part.p_value is not None and part.low is not None:
            assert_agrees(part)
    return verdict, parts, single_runs(evidence, asked)


def assert_agrees(part: ClaimPart) -> None:
    """The interval that is shown and the verdict say the same."""
    low = -np.inf if part.low is None else part.low
    high = np.inf if part.high is None else part.high
    least = -np.inf if part.claimed_low is None else part.claimed_low
    most = np.inf if part.claimed_high is None else part.claimed_high
    assert (part.verdict == REFUTED) == (high < least or low > most)
    above, below = low > least or least == -np.inf, high < most or most == np.inf
    assert (part.verdict == SUPPORTED) == (above and below)


CPU, WAIT = 'metric = "task_clock"\n', 'metric = "latency_max"\ndesigns = "iterative"\n'
ORDER = CPU + 'order = ["select", "iterative", "thread-per-client"]'
EQUAL = CPU + 'order = ["iterative~select", "thread-per-client"]'
AT_LEAST = CPU + 'order = ["select", "iterative"]\nat_least = 100'
SHAPE = WAIT + 'shape = "{}"'
GROWTH = CPU + 'growth = ["select", "iterative"]'
ALIKE = GROWTH.replace('", "', "~")
WIDENS = CPU + 'widens = ["iterative", "select", "thread-per-client"]'
NEARER = CPU + 'nearer = ["select", "iterative", "thread-per-client"]'
BOUND = CPU + 'designs = "select"\n'


def waits(*means: float) -> Found:
    return over(iterative=dict(zip((10, 25, 50), means, strict=False)))


def grown(last: float) -> Found:
    return over(iterative={5: 600.0, 15: last}, select={5: 60.0, 15: 60.0})


def three(*steps: tuple[float, float, float]) -> Found:
    by_design = zip(("iterative", "select", "tpc"), zip(*steps, strict=True), strict=True)
    return over(**{name: dict(zip((5, 15), means, strict=False)) for name, means in by_design})


@pytest.mark.parametrize(
    ("body", "found", "verdict", "value"),
    [
        (ORDER, at_ten(select=600, iterative=640, tpc=720), SUPPORTED, 640 / 600),
        (ORDER, at_ten(select=700, iterative=640, tpc=720), REFUTED, 640 / 700),
        (ORDER, at_ten(select=640, iterative=640.2, tpc=720), UNDECIDED, 1.0),
        (EQUAL, at_ten(select=600, iterative=610, tpc=720), SUPPORTED, 600 / 610),
        (EQUAL, at_ten(select=600, iterative=690, tpc=720), REFUTED, 600 / 690),
        (EQUAL, at_ten(select=600, iterative=663, tpc=720), UNDECIDED, 600 / 663),
        (AT_LEAST, at_ten(select=600, iterative=70_000), SUPPORTED, 700 / 6),
        (AT_LEAST, at_ten(select=600, iterative=6_400), REFUTED, 64 / 6),
        (AT_LEAST, at_ten(select=600, iterative=60_000), UNDECIDED, 100.0),
        (SHAPE.format("rising"), waits(10.0, 12.0, 14.0), SUPPORTED, 1.2),
        (SHAPE.format("rising"), waits(10.0, 12.0, 11.0), REFUTED, 1.2),
        (SHAPE.format("rising"), waits(10.0, 12.0, 12.01), UNDECIDED, 1.2),
        (SHAPE.format("falling"), waits(14.0, 12.0, 10.0), SUPPORTED, 14 / 12),
        (SHAPE.format("falling"), waits(10.0, 12.0, 14.0), REFUTED, 10 / 12),
        (SHAPE.format("flat"), waits(10.0, 10.1, 13.0), REFUTED, 1.01),
        (SHAPE.format("flat"), waits(10.0, 10.1, 11.05), UNDECIDED, 1.01),
        (SHAPE.format("flat"), waits(10.0, 11.5), REFUTED, 1.15),
        (SHAPE.format("flat") + '\nwithin = "30 %"', waits(10.0, 11.5), SUPPORTED, 1.15),
        (SHAPE.format("sublinear"), waits(10.0, 16.0, 22.0), SUPPORTED, 0.49),
        (SHAPE.format("sublinear"), waits(10.0, 40.0, 90.0), REFUTED, 1.37),
        (SHAPE.format("sublinear"), waits(10.0, 25.0, 50.0), UNDECIDED, 1.0),
        (SHAPE.format("linear"), waits(7.0, 16.7, 32.3), SUPPORTED, 0.95),
        (SHAPE.format("linear"), waits(7.0, 27.7, 78.3), REFUTED, 1.5),
        (SHAPE.format("linear"), waits(7.0, 7.0, 7.0), REFUTED, 0.0),
        (GROWTH, grown(700.0), SUPPORTED, 7 / 6),
        (GROWTH, grown(500.0), REFUTED, 5 / 6),
        (GROWTH, grown(600.5), UNDECIDED, 1.0),
        (ALIKE, grown(610.0), SUPPORTED, 61 / 60),
        (ALIKE, grown(800.0), REFUTED, 8 / 6),
        (ALIKE, grown(662.0), UNDECIDED, 662 / 600),
        (f"{GROWTH}\nat_least = 2", grown(1500.0), SUPPORTED, 2.5),
        (f"{GROWTH}\nat_least = 2", grown(1000.0), REFUTED, 10 / 6),
        (WIDENS, three((600, 640, 700), (600, 640, 900)), SUPPORTED, 9 / 7),
        (WIDENS, three((600, 640, 700), (900, 640, 600)), SUPPORTED, 9 / 7),
        (WIDENS, three((600, 640, 900), (600, 640, 700)), REFUTED, 7 / 9),
        (WIDENS, three((600, 640, 900), (900, 640, 600)), UNDECIDED, 1.0),
        (NEARER, three((16, 12, 28)), SUPPORTED, 28 / 16),
        (NEARER, three((28, 33, 16)), SUPPORTED, 28 / 16),
        (NEARER, three((16, 25, 28)), REFUTED, (28 / 25) / (25 / 16)),
        (NEARER, three((28, 18, 16)), REFUTED, (18 / 16) / (28 / 18)),
        (NEARER, three((16, 21.2, 28)), UNDECIDED, 1.0),
        (BOUND + 'below = "700 us"', at_ten(select=600), SUPPORTED, 600),
        (BOUND + 'below = "500 us"', at_ten(select=600), REFUTED, 600),
        (BOUND + 'below = "601 us"', at_ten(select=600), UNDECIDED, 600),
        (BOUND + 'above = "500 us"', at_ten(select=600), SUPPORTED, 600),
        (BOUND + 'above = "700 us"', at_ten(select=600), REFUTED, 600),
        (
            BOUND + 'below = "700 us"\nand = { above = "500 us" }',
            at_ten(select=600),
            SUPPORTED,
            600,
        ),
        (BOUND + 'below = "700 us"\nand = { above = "650 us" }', at_ten(select=600), REFUTED, 600),
    ],
)
def test_a_claim_of_each_form_is_true_false_or_lost_in_noise(
    body: str, found: Found, verdict: str, value: float
) -> None:
    """By all of its parts; in most single blocks it is the same."""
    found_verdict, parts, runs = judged(body, found)
    assert found_verdict == verdict
    assert parts[0].value == pytest.approx(value, rel=0.03, abs=0.03)
    assert runs is not None
    assert runs[1] == BLOCKS
    if verdict != UNDECIDED:
        assert (runs[0] > BLOCKS / 2) == (verdict == SUPPORTED)


def test_undecided_parts_state_what_is_detectable() -> None:
    found, parts, runs = judged(ORDER, at_ten(select=640, iterative=641, tpc=720))
    assert found == parts[0].verdict == UNDECIDED
    assert 1.005 < parts[0].detectable < 1.1
    assert 0 < runs[0] < runs[1] == BLOCKS


@pytest.mark.parametrize(
    ("select", "verdicts"), [(600, [SUPPORTED, NOT_MEASURABLE]), (700, [REFUTED, NOT_MEASURABLE])]
)
def test_an_unsupported_counter_is_not_measurable_rather_than_zero(
    select: float, verdicts: list[str]
) -> None:
    """Unless another part refutes the claim."""
    values = at_ten(select=select, iterative=640) | {("thread-per-client", 10): "not supported"}
    found, parts, runs = judged(ORDER, values)
    assert found == (REFUTED if REFUTED in verdicts else NOT_MEASURABLE)
    assert [part.verdict for part in parts] == verdicts
    assert (parts[1].reason, parts[1].value, runs) == ("not supported", None, None)


@given(
    st.lists(st.sampled_from([560.0, 600.0, 630.0, 660.0, 700.0]), min_size=3, max_size=3),
    st.integers(1, 9),
)
@settings(max_examples=60)
def test_verdicts_agree_with_the_intervals_that_are_shown(means: list[float], blocks: int) -> None:
    """Of orders and of equality; fewer blocks than six decide nothing."""
    chance = np.random.default_rng(blocks)
    values: Found = {
        (name, 10): {block: mean * float(chance.normal(1, 0.02)) for block in range(blocks)}
        for mean, name in zip(means, THREE, strict=True)
    }
    for body in (ORDER, EQUAL):
        for part in judged(body, values)[1]:
            too_few = blocks < FEWEST_BLOCKS
            assert (part.verdict == TOO_FEW) == too_few
            assert (part.p_value is None) == (part.low is None) == too_few


OVER = 'metric = "task_clock_over_iterative"\n'
TENFOLD = OVER + 'ratio = ["fork-per-client", "select"]\nat_least = 10'


def beyond_iterative(spread: float, **more: float) -> Found:
    """The iterative server, and others that need so much more in the same blocks."""
    base = noisy(600, 0.05)
    values: Found = {("iterative", 10): base}
    for at, (name, mean) in enumerate(more.items()):
        over = noisy(1, spread, seed=at)
        added = {block: base[block] + mean * over[block] for block in base}
        values = {**values, (NAMES.get(name, name), 10): added}
    return values


@pytest.mark.parametrize(
    ("select", "fork", "verdict"),
    [(10, 300, SUPPORTED), (90, 300, REFUTED), (-1, 300, SUPPORTED), (40, 410, UNDECIDED)],
)
def test_overheads_are_differences_that_may_be_0(select: float, fork: float, verdict: str) -> None:
    """Nothing at all is less than a tenth of something; its ratio has no upper end."""
    found, (part,), _ = judged(TENFOLD, beyond_iterative(0.2, select=select, fork=fork))
    assert found == verdict
    if select < 0:
        assert (part.value, part.high) == (None, None)
    else:
        assert part.value == pytest.approx(fork / select, rel=0.25)


def test_a_ratio_to_a_figure_that_may_be_0_is_bounded_on_one_side() -> None:
    times = FiellerRatio(noisy(1, 2.5), noisy(50))
    score = decide_jointly([times.against(1.0)]).score
    low, high = times.interval(score)
    assert high is None
    assert Mean.of_blocks(times.against(low)).interval(score)[0] == pytest.approx(0, abs=1e-6)


FAULTS = EQUAL.replace("task_clock", "page_faults")
NOTHING = dict.fromkeys(range(1, 9), 0.0)


def test_counts_of_0_are_equal() -> None:
    values = {(name, 10): NOTHING for name in ("iterative", "select")}
    values["thread-per-client", 10] = noisy(4)
    stated = f'{FAULTS}\nwithin = ["10 %", "0.1 page faults"]'
    found, parts, runs = judged(stated, values)
    assert found == SUPPORTED
    assert [part.scale for part in parts] == ["difference"] * 3
    assert (parts[0].claimed_low, parts[0].claimed_high) == (-0.1, 0.1)
    assert runs == (8, 8)


def test_a_relative_margin_of_a_figure_that_may_be_0_decides_nothing() -> None:
    """Report C's third claim: 0.001 page faults beside 14 of a thread."""
    some = {block: 0.0 if block % 3 else 0.003 for block in NOTHING}
    values = {("iterative", 10): some, ("select", 10): NOTHING}
    found, parts, _ = judged(FAULTS, {**values, ("thread-per-client", 10): noisy(14)})
    assert found == UNDECIDED
    assert [part.verdict for part in parts] == [UNDECIDED, SUPPORTED, SUPPORTED]
    assert parts[0].reason == NEAR_ZERO


def test_an_overhead_may_be_equal_to_another_within_a_share() -> None:
    values = beyond_iterative(0.01, select=400.0, fork=405.0, tpc=500.0)
    equal = OVER + 'order = ["select~fork-per-client", "thread-per-client"]'
    found, parts, _ = judged(equal, values)
    assert (found, parts[0].scale) == (SUPPORTED, "ratio")
    unequal = OVER + 'order = ["select~thread-per-client", "fork-per-client"]'
    assert judged(unequal, values)[1][0].verdict == REFUTED


@pytest.mark.parametrize(("thread", "direction"), [(480.0, "more"), (320.0, "less")])
def test_a_difference_is_worded_in_its_direction(thread: float, direction: str) -> None:
    """No sentence says that one has -80 more."""
    body = OVER + 'order = ["select", "thread-per-client"]'
    _, (part,), _ = judged(body, beyond_iterative(0.01, select=400.0, tpc=thread))
    said = finding(comparisons(make_claim(body))[0], part, " us")
    words = rf"thread-per-client has 80 \([\d.]+ to [\d.]+\) us {direction} CPU time than select$"
    assert re.search(words, said)


def test_growth_goes_through_all_numbers_of_connections() -> None:
    """By the power, not by the last number alone."""
    costs = {5: 600.0, 15: 700.0, 45: 800.0}
    found, (part,), _ = judged(GROWTH, over(iterative=costs, select=dict.fromkeys(costs, 600.0)))
    assert found == SUPPORTED
    assert part.label == "growth from 5 to 45 connections: select < iterative"
    said = finding(comparisons(make_claim(GROWTH, (5, 15, 45)))[0], part, "")
    assert said.startswith("growth from 5 to 45 connections: CPU time grows 1.3")
    assert said.endswith(" times as much with iterative as with select")
    assert part.value == pytest.approx(800 / 600, rel=0.03)


RISES = CPU + 'designs = "iterative"\nshape = "rising"'


@pytest.mark.parametrize(
    ("body", "verdict"), [(RISES, SUPPORTED), (f'{RISES}\nper = "request"', REFUTED)]
)
def test_sums_are_per_round_unless_published_per_request(body: str, verdict: str) -> None:
    """Cheaper each, and dearer all together: so whole processes are measured."""
    found, (part,), _ = judged(body, over(iterative={1: 640.0, 3: 600.0}))
    assert found == verdict
    assert part.value == pytest.approx(600 / 640 * (3 if verdict == SUPPORTED else 1), rel=0.01)


def test_a_margin_per_request_is_scaled_to_the_sum() -> None:
    flat = RISES.replace("task_clock", "page_faults").replace("rising", "flat")
    values = over(iterative={2: 0.5, 4: 0.35})
    found, (part,), _ = judged(f'{flat}\nwithin = "0.5 page faults"', values)
    assert (found, part.scale) == (SUPPORTED, "difference")
    assert (part.claimed_low, part.claimed_high) == (-1.0, 1.0)
    assert part.value == pytest.approx(0.35 * 4 - 0.5 * 2, abs=0.02)


def test_figures_that_may_be_0_grow_by_a_difference() -> None:
    chance = np.random.default_rng(4)
    nothing = {block: 0.0 if block % 2 else 0.02 for block in range(1, BLOCKS + 1)}
    values = {(name, count): nothing for name in ("iterative", "select") for count in (5, 15)}
    values["iterative", 15] = {block: 0.3 + float(chance.normal(0, 0.02)) for block in nothing}
    verdict, (part,), _ = judged(GROWTH.replace("task_clock", "page_faults"), values)
    assert (verdict, part.scale) == (SUPPORTED, "difference")
    assert part.value == pytest.approx(0.29 * 15, rel=0.05)
    body = 'metric = "page_faults"\nshape = "sublinear"\ndesigns = "select"'
    verdict, (part,), _ = judged(body, values)
    assert (verdict, part.reason) == (UNDECIDED, NO_EXPONENT)


def test_noise_at_many_connections_is_not_a_wider_gap() -> None:
    """The highest less the lowest of one block is wider the more noise there is."""
    places = [(design, count) for design in THREE for count in (5, 15)]
    values = {
        (design, count): noisy(600, 0.001 if count == 5 else 0.1, seed=at)
        for at, (design, count) in enumerate(places)
    }
    verdict, _, runs = judged(WIDENS, values)
    assert verdict == UNDECIDED
    assert runs == (BLOCKS, BLOCKS), "single runs are fooled"


def test_gaps_of_figures_that_may_be_0_are_differences() -> None:
    found = gaps_of(
        [{1: 0.0, 2: 0.0}, {1: 1.0, 2: 2.0}, {1: 5.0, 2: 5.0}, {1: 1.0, 2: 1.0}], differences=False
    )
    assert found.scale == "difference"
    assert found.in_units() == {1: 3.0, 2: 2.0}


def test_a_bound_per_request_is_scaled_to_the_process() -> None:
    figures = {("task_clock", "server"): {("select", 10): noisy(9.0)}}
    asked = comparisons(make_claim(f'{BOUND}below = "1000 us"'))
    ((verdict, (part,)),) = decide([(evidence_of(figures, scope="process"), asked)])
    assert (verdict, part.claimed_high) == (SUPPORTED, 10.0)


@pytest.mark.parametrize(("limit_ms", "side"), [(0.8, 1), (1.25, -1)])
def test_a_percentile_is_compared_with_a_bound(limit_ms: float, side: int) -> None:
    chance = np.random.default_rng(3)
    requests = {
        block: RequestLatencies(
            np.sort(chance.exponential(1e6 / np.log(100), 2_000)).astype(np.int64),
            np.zeros(0, np.int64),
        )
        for block in range(BLOCKS)
    }
    found = one_percentile(requests, 0.99)
    assert not isinstance(found, str)
    assert found.value == pytest.approx(1.0, rel=0.05)
    assert {np.sign(value) for value in found.against(limit_ms).values()} == {side}
    low, high = found.interval(3.0)
    assert low < 1.0 < high
    assert one_percentile({1: requests[1]}, 0.999) == TOO_FEW_REQUESTS
    assert one_percentile({}, 0.5) == TOO_FEW_BLOCKS, "every trial failed"


@pytest.mark.parametrize(
    ("blocks", "sittings"), [(8, 1), pytest.param(4, 5, marks=pytest.mark.long)]
)
def test_the_error_rate_of_a_table_of_every_form_is_5_percent(blocks: int, sittings: int) -> None:
    """Where no claim is true or false; 300 tables at 5 % have fewer than 24 in 19 of 20."""
    share, each = wrong_tables(300, blocks, sittings)
    assert share < 24 / 300, each
