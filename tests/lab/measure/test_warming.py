"""A process is warmed until its slices are level, later ones from what the first one needed."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from regatta.measure.trial.merge import Window
from regatta.measure.trial.warming import (
    GIVEN_UP_S,
    SAFETY,
    SLICE_S,
    WATCHED_REQUESTS,
    Warming,
    WarmUps,
)
from regatta.record.cell import Cell
from regatta.record.counters import CPU_TIME, NS, counted, keyed
from regatta.record.steady import FLAT, STEADY, WARMED

RATE = 2_000
OPEN = Cell(
    *("own", 1, "snapshot", "open", 10, "epoll", "http", None, 1.0, 0, 2, 100),
    rate=RATE,
    arrivals="even",
    path="/",
)
CLOSED = replace(OPEN, load="closed", rate=None, arrivals=None)
COLD_US, WARM_US = 300.0, 100.0


class Server:
    """Costs so much for each of its requests; answers a closed load as fast as it can."""

    def __init__(self, cost_us: Callable[[int], float]) -> None:
        self.cost_us = cost_us
        self.served = 0
        self.chance = random.Random(self.served)

    def answer(self, load: Cell) -> Window:
        seconds = load.duration_s or SLICE_S
        cost_us = self.cost_us(self.served)
        requests = round(seconds * (load.rate or 0.8e6 / cost_us))
        self.served += requests
        cpu_ns = requests * cost_us * 1e3 * self.chance.gauss(1, 0.01)
        return Window(
            length_ns=round(seconds * 1e9),
            counters=keyed("server", "kernel", [counted(CPU_TIME, cpu_ns, NS)]),
            client={"answered": requests, "latency_ns": {"p50": 200_000}},
        )


def step(after: int) -> Callable[[int], float]:
    """As of a just-in-time compiler."""
    return lambda served: COLD_US if served < after else WARM_US


def warm(warm_ups: WarmUps, cell: Cell, server: Server, is_design: bool = False) -> Warming:
    warming = Warming(warm_ups, cell, is_design)
    while not warming.done:
        warming.add(server.answer(warming.load()), disturbed=False)
    return warming


@pytest.mark.parametrize("after", [0, 3_000, 20_000])
def test_every_process_gets_past_the_step(after: int) -> None:
    warm_ups = WarmUps(30.0)
    first = warm(warm_ups, CLOSED, Server(step(after)))
    known = warm_ups.known(OPEN)
    assert known is not None
    assert known.found.kind == (WARMED if after else FLAT)
    assert abs(known.found.requests - after) <= 5 * first.curve[0].requests
    for _ in range(3):
        server = Server(step(after))
        later = warm(warm_ups, OPEN, server)
        assert server.served > after
        assert [round(one.cpu_us, -1) for one in later.curve[-4:]] == [WARM_US] * 4
        assert later.seconds < 1.2 * first.seconds


@pytest.mark.parametrize("per_connection", [None, 1])
def test_a_later_process_first_gets_requests_as_fast_as_it_answers(
    per_connection: int | None,
) -> None:
    warm_ups = WarmUps(30.0)
    warm(warm_ups, replace(CLOSED, per_connection=per_connection), Server(step(20_000)))
    later = replace(OPEN, per_connection=per_connection)
    assert Warming(warm_ups, later, is_design=False).load().load == "closed"


def test_a_rate_that_takes_minutes_to_warm_a_server_does_not_keep_it_cold() -> None:
    warm_ups, slow = WarmUps(30.0), replace(OPEN, rate=100)
    server = Server(step(20_000))
    first = warm(warm_ups, slow, server)
    known = warm_ups.known(slow)
    assert known is not None
    assert (known.found.kind, known.cell.load) == (WARMED, "closed")
    assert server.served > 20_000
    assert [one.requests for one in first.curve] == [50] * len(first.curve), "at the race's rate"
    assert [round(one.cpu_us, -1) for one in first.curve] == [WARM_US] * len(first.curve)


@pytest.mark.parametrize("cell", [OPEN, CLOSED])
def test_what_is_warm_late_is_warm_again_in_later_processes(cell: Cell) -> None:
    """1.5 times as many requests would not fit into the limit."""
    warm_ups = WarmUps(30.0)

    def late(served: int) -> float:
        return max(WARM_US, COLD_US - served / 500)

    warm(warm_ups, cell, Server(late))
    known = warm_ups.known(cell)
    assert known is not None
    assert known.found.kind == WARMED
    assert known.found.seconds > 18
    later = warm(warm_ups, cell, Server(late))
    assert later.found()["warm_up"]["kind"] in STEADY


def test_one_that_never_becomes_steady_is_given_up_and_later_ones_sooner() -> None:
    warm_ups = WarmUps(10.0)
    leak = Server(lambda served: 100 + served / 100)
    first = warm(warm_ups, OPEN, leak)
    assert 10 <= first.seconds < 10 + 2 * SLICE_S
    known = warm_ups.known(OPEN)
    assert known is not None
    assert not known.found.is_steady
    assert warm(warm_ups, OPEN, leak).seconds < GIVEN_UP_S + 2 * SLICE_S


def test_one_process_of_a_design_stands_for_all() -> None:
    warm_ups = WarmUps(30.0)
    first = warm(warm_ups, OPEN, Server(step(0)), is_design=True)
    assert first.seconds < 4, "it is not watched for a third of the limit"
    assert Warming(warm_ups, OPEN, is_design=True).done
    assert not Warming(warm_ups, OPEN, is_design=False).done


@pytest.mark.parametrize("cell", [replace(OPEN, cold=100), OPEN])
def test_a_cold_race_and_one_without_a_limit_are_not_warmed(cell: Cell) -> None:
    limit_s = 30.0 if cell.cold else 0.0
    assert Warming(WarmUps(limit_s), cell, is_design=False).done


def test_the_time_of_later_processes_is_known_before_they_run() -> None:
    warm_ups = WarmUps(30.0)
    assert warm_ups.expected_s(OPEN) == 0
    warm(warm_ups, CLOSED, Server(step(20_000)))
    later = warm(warm_ups, OPEN, Server(step(20_000)))
    assert warm_ups.expected_s(OPEN) == pytest.approx(later.seconds, rel=0.7)
    assert SAFETY > 1


def test_a_fast_server_is_watched_for_so_many_requests_not_for_so_long() -> None:
    fast = warm(WarmUps(30.0), CLOSED, Server(lambda _: 20.0))
    slow = warm(WarmUps(30.0), CLOSED, Server(lambda _: 1_000.0))
    assert WATCHED_REQUESTS <= fast.requests < 2 * WATCHED_REQUESTS
    assert 10 <= slow.seconds < 11
