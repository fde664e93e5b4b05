"""--sources: the client's source addresses; 10,000 connections."""

import socket
from collections import Counter
from pathlib import Path

from tests.e2e.scripted_servers import LINE_REPLY, Handler, always, errors, result_of, serving
from tests.servers import running


def counting(seen: Counter[str]) -> Handler:
    """Counts the client addresses."""

    def handler(connection: socket.socket, number: int) -> None:
        seen[connection.getpeername()[0]] += 1
        always(LINE_REPLY)(connection, number)

    return handler


def test_connections_use_the_sources_in_turn(engine: str) -> None:
    seen: Counter[str] = Counter()
    with serving(counting(seen)) as server:
        result, status = result_of(server, "-c 8 --sources 127.0.0.7,127.0.1.254-127.0.2.0", engine)
    assert (status, result["answered"]) == (0, 8)
    assert seen == dict.fromkeys(["127.0.0.7", "127.0.1.254", "127.0.1.255", "127.0.2.0"], 2)


def test_short_connections_are_spread_over_loopback_addresses(engine: str) -> None:
    seen: Counter[str] = Counter()
    with serving(counting(seen)) as server:
        result, status = result_of(
            server, "--load closed --duration 0.2 --per-connection 1 -c 3", engine
        )
    assert (status, result["errors"]) == (0, errors())
    assert sum(seen.values()) == result["connections_opened"]
    assert "127.0.0.1" not in seen
    # Each of the three uses the 64 addresses in turn; one may be far ahead of the others.
    assert len(seen) >= min(64, result["connections_opened"] // 3)
    assert max(seen.values()) <= result["connections_opened"] / 64 + 3


def test_ten_thousand_connections_from_one_process(tmp_path: Path) -> None:
    with running(tmp_path, "--design", "epoll", "--work", "snapshot") as server:
        result, status = result_of(server, "--load open --rate 20000 --duration 1 -c 10000")
    assert (status, result["errors"]) == (0, errors())
    assert result["connections_opened"] == server.summary["connections"] == 10_000
    assert result["requests"] + result["unstarted"] == 20_000
    assert result["answered"] == server.summary["requests"]
