"""Whether a rate is held, by what the client reports of its load: why not, in words, or None.

And which rates are not tried, because they exceed half of the client's capacity.
"""

import math
from typing import Any

from regatta.trial.merge import due

STARTED_LIMIT = 0.99
"""Share of what was due; client_bound.c has the same."""
GROWTH_LIMIT = 0.01
"""Also of what was due: a backlog growing by more fills any connections in time."""
CLIENT_LIMIT = 0.5
"""Share of its capacity up to which a client is not the bottleneck."""
NS_PER_MS = 1e6

CLIENT = "the client's limit"
"""Start of a reason if the client, not the server, ended the search."""


def why_not_held(client: dict[str, Any], p99_limit_ms: float, growth: float) -> str | None:
    """`growth`: of the backlog.

    A client that was the bottleneck by its own word comes first: it reads late what was answered in
    time, so that nothing is known of the server but that it holds what was held before.
    """
    client_bound = client.get("client_bound")
    if client_bound:
        return f"{CLIENT}: it {client_bound}"
    started, wanted = client["requests"], due(client)
    if started < STARTED_LIMIT * wanted:
        # Downwards: 98.96 % is not 99 %.
        return f"{1000 * started // wanted / 10:.1f} % of what was due was started"
    if growth > GROWTH_LIMIT:
        return f"the backlog grew by {math.ceil(1000 * growth) / 10:.1f} % of what was due"
    return _too_slow(client["latency_ns"], p99_limit_ms)


def half_capacity(closed: dict[str, Any] | None) -> int | None:
    """Requests a second, by the client's cost per request in a closed load; None: unknown.

    Not by its CPU use in an open load, which hardly depends on the rate: at a low one each
    request costs a wake-up, at a high one a wake-up serves many.
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
