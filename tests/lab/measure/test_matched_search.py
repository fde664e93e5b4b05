"""The search of what a server holds, against servers whose capacity is known."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.record.rate_search import (
    CLIENT,
    HIGHEST,
    HOPELESS,
    LONG_STEP,
    LOWEST,
    MOST_PROBES,
    SHORT_STEP,
    TOLERANCE,
    Search,
    beyond_half,
    half_capacity,
    middle,
    rates_of,
    replay,
    why_not_held,
)

capacities = st.integers(LOWEST, HIGHEST)
Tale = list[tuple[int, str | None]]


def run(search: Search, capacity: float, blur: float = 0.0, seed: int = 1) -> Tale:
    """A server that holds its capacity; near it, as far as `blur`, chance decides."""
    chance = random.Random(seed)
    tale: Tale = []
    while (rate := search.next_rate()) is not None:
        holds = rate <= capacity * math.exp(chance.uniform(-blur, blur))
        tale.append((rate, None if holds else "too slow"))
        search.record(*tale[-1])
    return tale


@given(capacities, st.none() | st.integers(1, HIGHEST * 2))
def test_wherever_it_begins_it_finds_the_capacity_within_the_tolerance_and_never_beyond(
    capacity: int, start: int | None
) -> None:
    search = Search() if start is None else Search(start, SHORT_STEP)
    run(search, capacity)
    assert search.held <= capacity < max(search.held * TOLERANCE, search.held + 1)


@given(st.integers(2 * LOWEST, HIGHEST), st.floats(0.0, 0.1), st.integers(0, 1000))
def test_noise_moves_the_result_by_no_more_than_itself(
    capacity: int, blur: float, seed: int
) -> None:
    search = Search()
    run(search, capacity, blur, seed)
    beyond = math.exp(blur) * TOLERANCE
    assert capacity / beyond - 1 <= search.held <= capacity * math.exp(blur)


@given(capacities)
def test_it_is_short_and_shorter_from_where_others_ended(capacity: int) -> None:
    first = run(Search(), capacity)
    again = run(Search(capacity, SHORT_STEP), capacity)
    assert len(first) <= 25
    assert len(again) <= 12
    assert max(rate for rate, _ in first) <= max(LOWEST, capacity) * LONG_STEP + 1


@given(capacities, st.integers(0, 30))
def test_one_failure_that_is_chance_changes_nothing(capacity: int, unlucky: int) -> None:
    search = Search()
    count = 0
    while (rate := search.next_rate()) is not None:
        holds = rate <= capacity and count != unlucky
        search.record(rate, None if holds else "chance")
        count += 1
    assert search.held <= capacity < max(search.held * TOLERANCE, search.held + 1)


def test_a_contender_that_does_not_hold_the_lowest_rate_holds_none() -> None:
    search = Search()
    assert run(search, LOWEST - 1) == [(LOWEST, "too slow")] * HOPELESS
    assert (search.held, search.why) == (0, "too slow")


def test_a_server_without_a_limit_ends_the_search_too() -> None:
    search = Search()
    assert len(run(search, math.inf)) < 15
    assert (search.held, search.over) == (HIGHEST, None)


@given(st.integers(LOWEST, HIGHEST), st.integers(1, HIGHEST * 2), st.booleans())
def test_the_highest_rate_that_may_be_tried_is_tried_itself_and_ends_the_search(
    highest: int, start: int, later: bool
) -> None:
    search = Search(start, SHORT_STEP) if later else Search()
    search.limit_to(highest, "no more")
    tale = run(search, math.inf)
    assert max(tale) == tale[-1] == (highest, None)
    assert (search.held, search.over, search.why) == (highest, None, "no more")
    assert len(tale) <= 12


@given(st.integers(LOWEST, HIGHEST - 1), st.floats(1.0, 100.0))
def test_below_the_highest_rate_the_capacity_is_found_as_ever(capacity: int, beyond: float) -> None:
    search = Search()
    search.limit_to(math.ceil(capacity * beyond) + 1, "no more")
    tale = run(search, capacity)
    assert search.held <= capacity < max(search.held * TOLERANCE, search.held + 1)
    assert max(rate for rate, _ in tale) <= search.highest
    assert search.why == "too slow"


def test_half_of_what_the_client_can_is_by_its_cost_at_its_busiest_if_that_is_known() -> None:
    """At 200,000 a second it used 80 % of its CPU: with all of it, it could 250,000."""
    assert half_capacity({"throughput_per_s": 200_000.0, "cpu_share": 0.8}) == 125_000
    assert beyond_half(125_000) == f"{CLIENT}: half of its capacity is 125,000 a second"
    assert half_capacity(None) is None
    assert half_capacity({"throughput_per_s": 3.0, "cpu_share": 0.0}) is None


def test_a_server_that_holds_by_chance_alone_ends_it_too() -> None:
    search = Search()
    chance = random.Random(4)
    while (rate := search.next_rate()) is not None:
        search.record(rate, None if chance.random() < 0.5 else "chance")
    assert search.probes <= MOST_PROBES


@given(st.lists(capacities, min_size=1, max_size=4), st.integers(0, 60))
def test_a_tale_that_was_cut_short_goes_on_as_if_it_had_not_been(
    truths: list[int], cut: int
) -> None:
    """What a race that was stopped has recorded leads to the same probes as ever."""
    whole: dict[int, Tale] = {}
    for block, capacity in enumerate(truths, start=1):
        run_from = replay(whole, block)[-1]
        whole[block] = run(run_from, capacity)
    all_outcomes = [(block, outcome) for block, tale in whole.items() for outcome in tale]
    recorded: dict[int, Tale] = {}
    for block, outcome in all_outcomes[:cut]:
        recorded.setdefault(block, []).append(outcome)
    for block, outcome in all_outcomes[cut:]:
        search = replay(recorded, len(truths))[-1]
        assert search.next_rate() == outcome[0]
        recorded.setdefault(block, []).append(outcome)
    held = [search.held for search in replay(recorded, len(truths))]
    assert held == [search.held for search in replay(whole, len(truths))]


def test_a_contender_that_holds_nothing_in_the_first_block_is_dropped() -> None:
    tale: dict[int, Tale] = {1: [(LOWEST, "dead")] * HOPELESS}
    found = replay(tale, 4)
    assert len(found) == 1
    assert middle(found) == middle([]) == 0.0


def test_what_is_held_over_the_blocks_is_their_geometric_mean_of_the_lowest_rate_at_least() -> None:
    found = [Search(), Search(), Search()]
    for search, held in zip(found, (100, 400, 0), strict=True):
        search.held = held
    assert middle(found[:2]) == pytest.approx(200)
    assert rates_of(found) == [100, 400, LOWEST], "a later block that holds none is a bad moment"


GOOD = {
    "requests": 1000,
    "unstarted": 0,
    "latency_ns": {"p99": 3_000_000},
    "cpu_share": 0.2,
    "client_bound": None,
}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, None),
        ({"unstarted": 10}, None),
        ({"unstarted": 11}, "98.9 % of what was due was started"),
        ({"latency_ns": {"p99": 20_000_000}}, None),
        ({"latency_ns": {"p99": 20_100_000}}, "p99 20.1 ms, the limit is 20 ms"),
        ({"latency_ns": {"p99": None, "over": {"p99": 9_000_000}}}, "p99 over 9 ms"),
        ({"cpu_share": 0.79}, None),
        ({"cpu_share": 0.79, "unstarted": 500}, "66.6 % of what was due was started"),
        ({"client_bound": "used 93 %", "unstarted": 500}, f"{CLIENT}: it used 93 %"),
        ({"requests": 9896, "unstarted": 104}, "98.9 % of what was due was started"),
    ],
)
def test_a_rate_is_held_or_has_a_reason(change: dict[str, object], why: str | None) -> None:
    assert why_not_held(GOOD | change, 20, growth=0.01) == why


def test_growth_is_rounded_up() -> None:
    assert why_not_held(GOOD, 20, 0.01001) == "the backlog grew by 1.1 % of what was due"
