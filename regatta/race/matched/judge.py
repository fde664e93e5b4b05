"""Decides from the client's report whether a rate is held, and if not, why.

Also limits the rates to try to half of the client's capacity.
"""

import math
from typing import Any

from regatta.trial.merge import due

STARTED_LIMIT = 0.99
"""Least share of due requests that must be started; as in client_bound.c."""
GROWTH_LIMIT = 0.01
"""Share of due requests: a backlog that grows faster fills any number of connections in time."""
CLIENT_LIMIT = 0.5
"""Share of its capacity up to which a client is not the bottleneck."""
NS_PER_MS = 1e6

CLIENT = "the client's limit"
"""Reasons start with this if the client, not the server, ended the search."""


def why_not_held(client: dict[str, Any], p99_limit_ms: float, growth: float) -> str | None:
    """Why a rate is not held; None if it is. `growth`: of the backlog.

    A client that reports itself as the bottleneck is checked first: it reads replies late, so its
    figures say nothing about the server.
    """
    client_bound = client.get("client_bound")
    if client_bound:
        return f"{CLIENT}: it {client_bound}"
    started, wanted = client["requests"], due(client)
    if started < STARTED_LIMIT * wanted:
        # Rounded down: 98.96 % must not show as 99 %.
        return f"{1000 * started // wanted / 10:.1f} % of what was due was started"
    if growth > GROWTH_LIMIT:
        return f"the backlog grew by {math.ceil(1000 * growth) / 10:.1f} % of what was due"
    return _too_slow(client["latency_ns"], p99_limit_ms)


def half_capacity(closed: dict[str, Any] | None) -> int | None:
    """Half the client's capacity in requests a second, from a closed load; None: unknown.

    Its CPU share in an open load says little, as it hardly depends on the rate: at a low rate each
    request costs a wake-up, at a high rate a wake-up serves many requests.
    """
    if closed is None or not closed["cpu_share"]:
        return None
    return round(CLIENT_LIMIT * float(closed["throughput_per_s"]) / float(closed["cpu_share"]))


def beyond_half(rate: int) -> str:
    """Why no higher rate is tried."""
    return f"{CLIENT}: half of its capacity is {rate:,} a second"


def _too_slow(latency: dict[str, Any], p99_limit_ms: float) -> str | None:
    p99_ns = latency["p99"]
    if p99_ns is None:
        return f"p99 over {latency['over']['p99'] / NS_PER_MS:.3g} ms"
    if p99_ns > p99_limit_ms * NS_PER_MS:
        return f"p99 {p99_ns / NS_PER_MS:.3g} ms, the limit is {p99_limit_ms:g} ms"
    return None
