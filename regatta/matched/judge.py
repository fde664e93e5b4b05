"""Whether a rate is held, by what the client says of its load: why not, in words, or None."""

from __future__ import annotations

from typing import Any

from regatta.merge import due

STARTED_LIMIT = 0.99
"""Of what was due."""
CLIENT_LIMIT = 0.5
"""Of its CPUs: a client that is busier makes some of the latency itself."""
NS_PER_MS = 1e6

CLIENT = "the client's limit"
"""How a reason begins where the client, and not the server, is what ends the search."""


def why_not_held(client: dict[str, Any], p99_limit_ms: float) -> str | None:
    """The server's failures come first: it may be too slow long before the client is too busy."""
    bound = client.get("client_bound")
    if bound:
        return f"{CLIENT}: it {bound}"
    started, wanted = client["requests"], due(client)
    if started < STARTED_LIMIT * wanted:
        return f"{100 * started / wanted:.1f} % of what was due was started"
    latency = client["latency_ns"]
    p99_ns = latency["p99"]
    if p99_ns is None:
        return f"p99 over {latency['over']['p99'] / NS_PER_MS:.3g} ms"
    if p99_ns > p99_limit_ms * NS_PER_MS:
        return f"p99 {p99_ns / NS_PER_MS:.3g} ms, the limit is {p99_limit_ms:g} ms"
    share = float(client["cpu_share"])
    if share >= CLIENT_LIMIT:
        return f"{CLIENT}: it used {100 * share:.0f} % of its CPU"
    return None
