"""--sources: the client's source addresses; 10,000 connections."""

import socket
from collections import Counter
from pathlib import Path

import pytest

from tests.commands import run
from tests.e2e.hosts_file import with_hosts
from tests.e2e.scripted_servers import LINE_REPLY, errors, read_request, refusal, result_of, serving
from tests.servers import program, running


class Sources:
    """A handler that counts the client addresses."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def __call__(self, connection: socket.socket, _number: int) -> None:
        self.seen[connection.getpeername()[0]] += 1
        while read_request(connection):
            connection.sendall(LINE_REPLY)


def test_connections_use_the_sources_in_turn(engine: str) -> None:
    handler = Sources()
    with serving(handler) as server:
        result, status = result_of(server, "-c 8 --sources 127.0.0.7,127.0.1.254-127.0.2.0", engine)
    assert (status, result["answered"]) == (0, 8)
    assert handler.seen == dict.fromkeys(
        ["127.0.0.7", "127.0.1.254", "127.0.1.255", "127.0.2.0"], 2
    )


def test_short_connections_are_spread_over_loopback_addresses(engine: str) -> None:
    handler = Sources()
    with serving(handler) as server:
        result, status = result_of(
            server, "--load closed --duration 0.2 --per-connection 1 -c 3", engine
        )
    assert (status, result["errors"]) == (0, errors())
    assert sum(handler.seen.values()) == result["connections_opened"]
    assert "127.0.0.1" not in handler.seen
    # Each of the three uses the 64 addresses in turn; one may be far ahead of the others.
    assert len(handler.seen) >= min(64, result["connections_opened"] // 3)
    assert max(handler.seen.values()) <= result["connections_opened"] / 64 + 3


WRONG = [
    "",
    "localhost",
    "127.0.0.2,",
    "127.0.0.2-",
    "127.0.0.3-127.0.0.2",
    "127.0.0.0-127.0.255.255",
    "::1-::2",
    "::1",
    "192.0.2.1",
    "127.0.0.2:80",
]


@pytest.mark.parametrize("sources", WRONG)
def test_wrong_sources_are_refused(sources: str) -> None:
    assert "--sources" in refusal("--sources", sources, "127.0.0.1:7342")


def test_ten_thousand_connections_from_one_process(tmp_path: Path) -> None:
    with running(tmp_path, "--design", "epoll", "--work", "snapshot") as server:
        result, status = result_of(server, "--load open --rate 20000 --duration 1 -c 10000")
    assert (status, result["errors"]) == (0, errors())
    assert result["connections_opened"] == server.summary["connections"] == 10_000
    assert result["requests"] + result["unstarted"] == 20_000
    assert result["answered"] == server.summary["requests"]


def test_sources_choose_the_address_of_a_name(engine: str, tmp_path: Path) -> None:
    """Of several: both answer, and the name lists that of another family first."""
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
        port = listener.getsockname()[1]
        how = ("--engine", engine, "--quiet", "--sources", "127.0.0.2", "--timeout", "100")
        bound = with_hosts(tmp_path, "::1 two-of-them\n127.0.0.1 two-of-them\n")
        done = run(*bound, program("regatta-client"), *how, f"two-of-them:{port}")
    assert f"1 request to 127.0.0.1:{port}" in done.stdout
