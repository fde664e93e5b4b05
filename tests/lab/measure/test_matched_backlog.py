"""The search of what is held, against simulated queues whose capacity is known."""

import zlib

import numpy as np
import pytest

from regatta.measure.race.find_rates import backlog_growth, search_s
from regatta.record.rate_search import TOLERANCE, Search, why_not_held
from tests.lab.simulated_queues import LoadWindow, queue

MS, S = 10**6, 10**9
CONNECTIONS = 50
BEYOND = 1.02
"""The 1 % that a backlog may grow by, and the one request of a short probe."""


def asked(
    rate: int, services: np.ndarray, seconds: float, connections: int = CONNECTIONS
) -> LoadWindow:
    """Evenly, of one server that takes so long for each."""
    due = [round(number * S / rate) for number in range(len(services))]
    return queue(due, [int(service) for service in services], round(seconds * S), connections, 1)


def growth(seen: LoadWindow, seconds: float) -> float:
    return backlog_growth(zlib.decompress(seen.samples()), seconds)


def why_not(seen: LoadWindow, seconds: float) -> str | None:
    waits = sorted((end - due, outcome != 0) for due, end, outcome in seen.records)
    client = {
        "requests": len(seen.records) - seen.unstarted,
        "unstarted": seen.unstarted,
        "latency_ns": {"p99": waits[int(0.99 * len(waits))][0]},
        "cpu_share": 0.2,
        "client_bound": None,
    }
    return why_not_held(client, 50, growth(seen, seconds))


def searched(capacity: int, connections: int, chance: np.random.Generator | None = None) -> int:
    search = Search()
    while (rate := search.next_rate()) is not None:
        seconds = search_s(rate, connections)
        services = np.full(round(rate * seconds), S / capacity)
        if chance is not None:
            services = chance.exponential(services)
        search.record(rate, why_not(asked(rate, services, seconds, connections), seconds))
    return search.held


@pytest.mark.parametrize("connections", [1, 10, 50, 200])
@pytest.mark.parametrize("capacity", [150, 1_000, 3_300, 10_000])
def test_a_growing_queue_that_fits_into_the_connections_means_a_rate_is_not_held(
    capacity: int, connections: int
) -> None:
    held = searched(capacity, connections)
    assert capacity / TOLERANCE <= held <= capacity * BEYOND


def test_services_that_vary_move_what_is_held_little() -> None:
    chance = np.random.default_rng(3)
    held = np.array([searched(3_300, CONNECTIONS, chance) for _ in range(12)]) / 3_300
    assert 0.95 < np.exp(np.log(held).mean()) < 1.04


def test_the_growth_is_what_comes_beyond_the_capacity() -> None:
    seen = asked(1_000, np.full(1_000, S / 950), 1.0)
    assert growth(seen, 1.0) == pytest.approx(0.05, abs=0.003)
    assert why_not(seen, 1.0) == "the backlog grew by 5.0 % of what was due"


@pytest.mark.parametrize("at", [0.2, 0.4, 0.6, 0.8, 0.95])
def test_a_pause_that_is_recovered_is_no_growth(at: float) -> None:
    """15 ms, of a server that is half busy; wherever it falls but in the last moment."""
    services = np.full(1_000, 0.5 * MS)
    services[round(at * 1_000)] += 15 * MS
    assert growth(asked(1_000, services, 1.0), 1.0) == 0


def test_a_constant_backlog_is_no_growth() -> None:
    """Each waits 30 ms while others are served: 30 are due at any time."""
    due = [number * MS for number in range(1_000)]
    assert growth(queue(due, [30 * MS] * 1_000, S, CONNECTIONS, CONNECTIONS), 1.0) == 0
