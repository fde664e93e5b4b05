"""Verdicts on claims over several numbers of connections, on gaps and on bounds."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from regatta.judge.claims.claim_tests import Gaps, gaps_of
from regatta.judge.claims.comparisons import comparisons
from regatta.judge.claims.judge import decide
from regatta.judge.claims.make_test import NO_EXPONENT, single_runs
from regatta.judge.claims.result import REFUTED, SUPPORTED, UNDECIDED, ClaimPart
from regatta.judge.claims.words import finding
from regatta.judge.statistics.percentile_comparison import TOO_FEW_REQUESTS, one_percentile
from regatta.judge.statistics.percentiles import RequestLatencies
from tests.lab.claim_form_error_rate import evidence_of, wrong_tables
from tests.lab.judge.claims.test_claims import BLOCKS, assert_agrees, make_claim, noisy

CPU, WAIT = ("cpu_time_per_request_us", "server"), ("burst_time_ms", "client")
FAULTS = ("page_faults_per_request", "server")
Means = Mapping[str, Mapping[int, float]]
"""By design, at each number of connections."""


def judged(
    body: str, means: Means, of: tuple[str, str] = CPU, spread: float = 0.02
) -> tuple[str, list[ClaimPart], tuple[int, int] | None]:
    counts = sorted({count for by_count in means.values() for count in by_count})
    figures = {
        (design, count): noisy(mean, spread, seed=100 * at + count)
        for at, (design, by_count) in enumerate(means.items())
        for count, mean in by_count.items()
    }
    evidence = evidence_of({of: figures})
    asked = comparisons(make_claim(body, counts))
    ((verdict, parts),) = decide([(evidence, asked)])
    for comparison, part in zip(asked, parts, strict=True):
        assert finding(comparison, part, " us").startswith(part.label.partition(":")[0])
        if part.low is not None and part.high is not None:
            assert part.low <= part.value <= part.high
            assert_agrees(part)
    return verdict, parts, single_runs(evidence, asked)


def shape(name: str) -> str:
    return f'metric = "latency_max"\nshape = "{name}"\ndesigns = "iterative"'


@pytest.mark.parametrize(
    ("name", "waits", "verdict"),
    [
        ("rising", (10.0, 12.0, 14.0), SUPPORTED),
        ("rising", (10.0, 12.0, 11.0), REFUTED),
        ("rising", (10.0, 12.0, 12.01), UNDECIDED),
        ("falling", (14.0, 12.0, 10.0), SUPPORTED),
        ("falling", (10.0, 12.0, 14.0), REFUTED),
        ("falling", (12.01, 12.0, 10.0), UNDECIDED),
        ("flat", (10.0, 10.1, 10.2), SUPPORTED),
        ("flat", (10.0, 10.1, 13.0), REFUTED),
        ("flat", (10.0, 10.1, 11.05), UNDECIDED),
        ("sublinear", (10.0, 16.0, 22.0), SUPPORTED),
        ("sublinear", (10.0, 40.0, 90.0), REFUTED),
        ("sublinear", (10.0, 25.0, 50.0), UNDECIDED),
    ],
)
def test_shapes_over_connections(name: str, waits: tuple[float, ...], verdict: str) -> None:
    means = {"iterative": dict(zip((10, 25, 50), waits, strict=True))}
    found, _, runs = judged(shape(name), means, WAIT)
    assert found == verdict
    assert runs is not None
    assert runs[1] == BLOCKS
    if verdict != UNDECIDED:
        assert (runs[0] > BLOCKS / 2) == (verdict == SUPPORTED)


def test_flat_means_within_the_margin_that_is_stated() -> None:
    means = {"iterative": {10: 10.0, 25: 11.5}}
    assert judged(shape("flat"), means, WAIT)[0] == REFUTED
    stated = f'{shape("flat")}\nwithin = "30 %"'
    assert judged(stated, means, WAIT)[0] == SUPPORTED


GROWS = 'metric = "task_clock"\nshape = "rising"\ndesigns = "iterative"'


@pytest.mark.parametrize(
    ("body", "verdict"), [(GROWS, SUPPORTED), (f'{GROWS}\nper = "request"', REFUTED)]
)
def test_sums_are_per_round_unless_published_per_request(body: str, verdict: str) -> None:
    """Cheaper each, and dearer all together: so whole processes are measured."""
    found, (part,), _ = judged(body, {"iterative": {1: 640.0, 3: 600.0}})
    assert found == verdict
    assert part.value == pytest.approx(600 / 640 * (3 if verdict == SUPPORTED else 1), rel=0.01)


def test_the_figures_are_of_what_is_compared() -> None:
    evidence = evidence_of({CPU: {("iterative", count): noisy(600) for count in (1, 3)}})
    (comparison,) = comparisons(make_claim(GROWS, (1, 3)))
    found = [evidence.figure(term) for term in comparison.terms]
    assert [round(one.value or 0) for one in found] == [600, 1800]
    assert {(one.unit, one.per) for one in found} == {("µs", "round")}


def test_a_margin_per_request_is_scaled_to_the_sum() -> None:
    body = (
        'metric = "page_faults"\nshape = "flat"\ndesigns = "iterative"\nwithin = "0.5 page faults"'
    )
    means = {"iterative": {2: 0.5, 4: 0.35}}
    found, (part,), _ = judged(body, means, FAULTS)
    assert (found, part.scale) == (SUPPORTED, "difference")
    assert (part.claimed_low, part.claimed_high) == (-1.0, 1.0)
    assert part.value == pytest.approx(0.35 * 4 - 0.5 * 2, abs=0.02)


GROWTH = 'metric = "task_clock"\ngrowth = ["select", "iterative"]'


@pytest.mark.parametrize(
    ("body", "last", "verdict"),
    [
        (GROWTH, 700.0, SUPPORTED),
        (GROWTH, 500.0, REFUTED),
        (GROWTH, 600.5, UNDECIDED),
        (GROWTH.replace('", "', "~"), 610.0, SUPPORTED),
        (GROWTH.replace('", "', "~"), 800.0, REFUTED),
        (GROWTH.replace('", "', "~"), 662.0, UNDECIDED),
        (f"{GROWTH}\nat_least = 2", 1500.0, SUPPORTED),
        (f"{GROWTH}\nat_least = 2", 1000.0, REFUTED),
    ],
)
def test_two_growths_are_compared(body: str, last: float, verdict: str) -> None:
    """However much dearer one of them is."""
    means = {"iterative": {5: 600.0, 15: last}, "select": {5: 60.0, 15: 60.0}}
    found, (part,), _ = judged(body, means)
    assert found == verdict
    assert part.value == pytest.approx(last / 600, rel=0.02)


def test_growth_goes_through_all_numbers_of_connections() -> None:
    """By the power, not by the last number alone."""
    means = {
        "iterative": {5: 600.0, 15: 700.0, 45: 800.0},
        "select": {5: 600.0, 15: 600.0, 45: 600.0},
    }
    found, (part,), _ = judged(GROWTH, means)
    assert found == SUPPORTED
    assert part.label == "growth from 5 to 45 connections: select < iterative"
    (comparison,) = comparisons(make_claim(GROWTH, (5, 15, 45)))
    said = finding(comparison, part, "")
    assert said.startswith("growth from 5 to 45 connections: CPU time grows 1.3")
    assert said.endswith(" times as much with iterative as with select")
    assert part.value == pytest.approx(800 / 600, rel=0.03)


def test_figures_that_may_be_0_grow_by_a_difference() -> None:
    chance = np.random.default_rng(4)
    nothing = {block: 0.0 if block % 2 else 0.02 for block in range(1, BLOCKS + 1)}
    some = {block: 0.3 + float(chance.normal(0, 0.02)) for block in nothing}
    figures: dict[tuple[str, int], Any] = {
        ("iterative", 5): nothing,
        ("iterative", 15): some,
        ("select", 5): nothing,
        ("select", 15): nothing,
    }
    body = GROWTH.replace("task_clock", "page_faults")
    evidence = evidence_of({FAULTS: figures})
    ((verdict, (part,)),) = decide([(evidence, comparisons(make_claim(body, (5, 15))))])
    assert (verdict, part.scale) == (SUPPORTED, "difference")
    assert part.value == pytest.approx(0.29 * 15, rel=0.05)
    body = 'metric = "page_faults"\nshape = "sublinear"\ndesigns = "select"'
    ((verdict, (part,)),) = decide([(evidence, comparisons(make_claim(body, (5, 15))))])
    assert (verdict, part.reason) == (UNDECIDED, NO_EXPONENT)


WIDENS = 'metric = "task_clock"\nwidens = ["iterative", "select", "thread-per-client"]'


def three(iterative: float, select: float, threads: float) -> dict[str, float]:
    return {"iterative": iterative, "select": select, "thread-per-client": threads}


@pytest.mark.parametrize(
    ("few", "many", "verdict", "times"),
    [
        (three(600, 640, 700), three(600, 640, 900), SUPPORTED, 900 / 700),
        (three(600, 640, 700), three(900, 640, 600), SUPPORTED, 900 / 700),
        (three(600, 640, 900), three(600, 640, 700), REFUTED, 700 / 900),
        (three(600, 640, 900), three(900, 640, 600), UNDECIDED, 1.0),
        (three(600, 600, 600), three(600, 600, 600), UNDECIDED, 1.0),
    ],
)
def test_a_gap_widens_regardless_of_the_order(
    few: dict[str, float], many: dict[str, float], verdict: str, times: float
) -> None:
    means = {name: {5: few[name], 15: many[name]} for name in few}
    found, (part,), runs = judged(WIDENS, means)
    assert found == verdict
    assert part.value == pytest.approx(times, rel=0.03)
    assert runs is not None


def test_noise_at_many_connections_is_not_a_wider_gap() -> None:
    """The highest less the lowest of one block is wider the more noise there is."""
    figures = {
        (design, count): noisy(600, 0.001 if count == 5 else 0.1, seed=at)
        for at, (design, count) in enumerate(
            (design, count) for design in three(1, 1, 1) for count in (5, 15)
        )
    }
    evidence = evidence_of({CPU: figures})
    asked = comparisons(make_claim(WIDENS, (5, 15)))
    ((verdict, _),) = decide([(evidence, asked)])
    assert verdict == UNDECIDED
    assert single_runs(evidence, asked) == (BLOCKS, BLOCKS), "single runs are fooled"


NEARER = 'metric = "task_clock"\nnearer = ["select", "iterative", "thread-per-client"]'


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        (three(16, 12, 28), SUPPORTED),
        (three(28, 33, 16), SUPPORTED),
        (three(16, 25, 28), REFUTED),
        (three(28, 18, 16), REFUTED),
        (three(16, 21.2, 28), UNDECIDED),
        (three(16, 12, 16), UNDECIDED),
    ],
)
def test_one_is_nearer_to_another_than_to_a_third(means: dict[str, float], verdict: str) -> None:
    found, (part,), _ = judged(NEARER, {name: {5: mean} for name, mean in means.items()})
    assert found == verdict
    near, far = (
        max(means["select"] / means[name], means[name] / means["select"])
        for name in ("iterative", "thread-per-client")
    )
    assert part.value == pytest.approx(far / near, rel=0.03)


def test_gaps_of_figures_that_may_be_0_are_differences() -> None:
    found = gaps_of(
        [{1: 0.0, 2: 0.0}, {1: 1.0, 2: 2.0}, {1: 5.0, 2: 5.0}, {1: 1.0, 2: 1.0}], differences=False
    )
    assert isinstance(found, Gaps)
    assert found.scale == "difference"
    assert found.in_units() == {1: 3.0, 2: 2.0}


BOUND = 'metric = "task_clock"\ndesigns = "select"\n'


@pytest.mark.parametrize(
    ("bound", "verdict"),
    [
        ('below = "700 us"', SUPPORTED),
        ('below = "500 us"', REFUTED),
        ('below = "601 us"', UNDECIDED),
        ('above = "500 us"', SUPPORTED),
        ('above = "700 us"', REFUTED),
        ('below = "700 us"\nand = { above = "500 us" }', SUPPORTED),
        ('below = "700 us"\nand = { above = "650 us" }', REFUTED),
    ],
)
def test_a_figure_is_compared_with_a_bound(bound: str, verdict: str) -> None:
    found, parts, runs = judged(BOUND + bound, {"select": {10: 600.0}})
    assert found == verdict
    assert {part.scale for part in parts} == {"figure"}
    assert runs is not None
    if verdict != UNDECIDED:
        assert runs[0] == (BLOCKS if verdict == SUPPORTED else 0)


def test_a_bound_per_request_is_scaled_to_the_process() -> None:
    figures = {("task_clock", "server"): {("select", 10): noisy(9.0)}}
    evidence = evidence_of(figures, scope="process")
    asked = comparisons(make_claim(f'{BOUND}below = "1000 us"', (10,)))
    ((verdict, (part,)),) = decide([(evidence, asked)])
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


@pytest.mark.parametrize(
    ("blocks", "sittings"), [(8, 1), pytest.param(4, 5, marks=pytest.mark.long)]
)
def test_the_error_rate_of_a_table_of_every_form_is_5_percent(blocks: int, sittings: int) -> None:
    """Where no claim is true or false; 300 tables at 5 % have fewer than 24 in 19 of 20."""
    share, each = wrong_tables(300, blocks, sittings)
    assert share < 24 / 300, each
