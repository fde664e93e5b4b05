"""--idle and --slow: additional connections that are idle or send and read byte by byte."""

import socket
import threading
import time
from pathlib import Path

from tests.e2e.scripted_servers import (
    LINE_REPLY,
    REPLIES,
    always,
    by_number,
    errors,
    read_request,
    refusal,
    refusing_port,
    result_of,
    serving,
)
from tests.servers import running
from tests.waiting import wait_until

CLOSED = "--load closed --duration"


def test_idle_and_slow_connections_are_not_in_the_samples(tmp_path: Path) -> None:
    with running(tmp_path, "--design", "select", "--work", "snapshot") as server:
        result, status = result_of(server, f"{CLOSED} 0.3 -c 5 --idle 40 --slow 7")
    assert (status, result["errors"]) == (0, errors())
    assert (result["idle"], result["idle_lost"]) == (40, 0)
    assert (result["slow"], result["slow_lost"]) == (7, 0)
    assert result["connections_opened"] == 5
    assert server.summary["connections"] == 5 + 40 + 7
    assert result["requests"] <= server.summary["requests"] <= result["requests"] + 7


def test_idle_connections_send_nothing_and_lost_ones_are_counted() -> None:
    sent: list[bytes] = []

    def handler(connection: socket.socket, number: int) -> None:
        if number < 4:  # idle connections are made first
            if number % 2 == 0:
                connection.sendall(b"error: you have been silent for too long\n\n")
                return
            sent.append(connection.recv(100))
            return
        while read_request(connection):
            connection.sendall(LINE_REPLY)

    with serving(handler) as server:
        result, status = result_of(server, f"{CLOSED} 0.3 --idle 4")
        assert server.accepted == 5
    assert (status, result["errors"]) == (0, errors())
    assert (result["idle"], result["idle_lost"]) == (4, 2)
    assert sent == [b"", b""]


def test_slow_connections_send_and_read_a_byte_each_10_ms(dialect: str) -> None:
    came_ns: list[int] = []
    requests: list[bytes] = []
    pieces: list[bytes] = []

    def slow(connection: socket.socket, _number: int) -> None:
        request = b""
        while piece := connection.recv(100):
            came_ns.append(time.monotonic_ns())
            pieces.append(piece)
            request += piece
            if request.endswith(b"\n" if dialect == "line" else b"\r\n\r\n"):
                requests.append(request)
                request = b""
                connection.sendall(REPLIES[dialect])

    replies = len(REPLIES[dialect])
    with serving(by_number(slow, always(REPLIES[dialect]))) as server:
        result, status = result_of(server, f"{CLOSED} 3 --slow 1", dialect=dialect)
    assert status == 0
    assert result["slow_lost"] == 0
    assert result["slow_requests"] >= 1
    assert requests[0] == (
        b"top 2\n"
        if dialect == "line"
        else f"GET /top?n=2 HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode()
    )
    # If this test is delayed it reads two at once; a client that sends two would rarely show one.
    assert [len(piece) for piece in pieces].count(1) > 0.5 * len(pieces)
    gaps = [after - before for before, after in zip(came_ns, came_ns[1:], strict=False)]
    ordered = sorted(gaps)
    assert ordered[len(ordered) // 2] > 8e6
    assert ordered[len(ordered) // 10] < 20e6  # a busy machine stretches the others
    # The gap between two requests is the reply being read byte by byte.
    assert max(gaps) > replies * 9e6


def test_a_lost_slow_connection_is_reopened() -> None:
    seen = threading.Event()

    def lose(connection: socket.socket, number: int) -> None:
        connection.recv(3)
        if number > 1:
            seen.set()

    with serving(by_number(lose, always(LINE_REPLY), lose)) as server:
        result, status = result_of(server, f"{CLOSED} 0.6 --slow 1")
    assert (status, result["errors"]) == (0, errors())
    assert seen.is_set()
    assert result["slow_lost"] >= 2
    assert result["slow_requests"] == 0


def test_a_large_reply_to_a_slow_reader_is_held_back() -> None:
    """Its receive buffer is minimal, so that the server's send blocks."""
    row = b"%d 4242 0.000000 0.000000 " + b"n" * 200 + b"\n"
    body = LINE_REPLY.split(b"\n")[0] + b"\n" + b"".join(row % (i + 1) for i in range(64)) + b"\n"
    is_held = threading.Event()

    def slow(connection: socket.socket, _number: int) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        read_request(connection)
        connection.settimeout(0.1)
        try:
            connection.sendall(body)
        except TimeoutError:
            is_held.set()

    with serving(by_number(slow, always(body))) as server:
        _, status = result_of(server, f"{CLOSED} 0.8 --slow 1 -n 64")
    assert status == 0
    assert is_held.is_set()


def test_idle_or_slow_connections_that_fail_prevent_the_load() -> None:
    with refusing_port() as address:
        for options in (["--idle", "5"], ["--slow", "5"]):
            assert "regatta-client: not all " in refusal(*options, address, status=1)


def test_all_idle_connections_that_a_server_refuses_are_counted() -> None:
    """However short the load is: each refusal is a message and its end."""
    idle = 500
    refused: list[int] = []

    def handler(connection: socket.socket, number: int) -> None:
        if number < idle:
            connection.sendall(b"error: too many connections\n\n")
            connection.close()
            refused.append(number)
        elif read_request(connection):
            wait_until(lambda: len(refused) == idle, "not all are refused")
            connection.sendall(LINE_REPLY)

    with serving(handler) as server:
        result, status = result_of(server, f"--idle {idle}")
    assert (status, result["idle"], result["idle_lost"]) == (0, idle, idle)
