"""regatta-client against servers that answer well, badly, slowly or not at all.

Every test runs with each engine, which must all report the same.
"""

import json
import socket
import time

import pytest

from tests.e2e.scripted_servers import (
    LINE_REPLY,
    NO_FIGURES,
    REPLIES,
    ROWS,
    TITLE,
    address_of,
    always,
    client,
    errors,
    http,
    once,
    outcome,
    read_request,
    refusing_port,
    result_of,
    serving,
)
from tests.sockets import reset


def test_every_connection_of_every_round_asks_once(engine: str, dialect: str) -> None:
    with serving(once(REPLIES[dialect])) as server:
        result, status = result_of(server, "-c 20 --rounds 3", engine, dialect)
        assert server.accepted == 60
    assert status == 0
    assert (result["requests"], result["answered"], result["errors"]) == (60, 60, errors())
    assert result["connections_opened"] == 60
    assert result["bytes_received"] == 60 * len(REPLIES[dialect])
    assert (result["connections"], result["rounds"]) == (20, 3)
    assert (result["engine"], result["load"], result["dialect"]) == (engine, "burst", dialect)
    assert result["target"] == server.address


@pytest.mark.parametrize("per_connection", [0, 4])
def test_a_closed_load_keeps_its_connections_for_so_many_requests(
    engine: str, dialect: str, per_connection: int
) -> None:
    counts: dict[int, int] = {}
    load = f"-c 3 --load closed --duration 0.3 --per-connection {per_connection}"
    with serving(always(REPLIES[dialect], counts)) as server:
        result, status = result_of(server, load, engine, dialect)
    assert status == 0
    assert result["requests"] == result["answered"] == sum(counts.values())
    assert result["connections_opened"] == len(counts)
    assert (result["duration_ns"], result["per_connection"]) == (300_000_000, per_connection)
    assert 0.1e9 < result["elapsed_ns"] < 5e9  # a busy machine takes longer
    if per_connection:
        assert len(counts) > 3
        assert sorted(counts.values())[3:] == [4] * (len(counts) - 3)  # three ended with the load
    else:
        assert len(counts) == 3
        assert min(counts.values()) > 1


def test_a_reply_may_arrive_byte_by_byte(engine: str, dialect: str) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while read_request(connection):
            for byte in REPLIES[dialect]:
                connection.sendall(bytes([byte]))
                time.sleep(0.001)

    with serving(handler) as server:
        result, status = result_of(server, "-c 3", engine, dialect)
    assert (status, result["answered"]) == (0, 3)
    # The first byte arrives long before the end, and both are measured.
    assert result["first_byte_ns"]["max"] < result["latency_ns"]["min"]


def test_an_announced_close_is_no_error(engine: str) -> None:
    """Whatever else the header says."""
    reply = http(TITLE + ROWS, headers=b"Connection: close, keep-alive\r\n")
    with serving(once(reply)) as server:
        result, status = result_of(server, "-c 2 --load closed --duration 0.2", engine, "http")
    assert (status, result["errors"], result["resent"]) == (0, errors(), 0)
    assert result["connections_opened"] == result["requests"] > 2


# Servers that answer badly

BAD = [b"hello\n", LINE_REPLY + b"more", b"error: no\n\n", LINE_REPLY[:50], b""]


def test_errors_are_counted_by_kind(engine: str) -> None:
    """One of each kind; the unit tests of the reply parser have more."""
    with serving(once(lambda number: [LINE_REPLY, *BAD][number % 6])) as server:
        result, status = result_of(server, "-c 60", engine)
    assert (status, result["requests"], result["answered"]) == (1, 60, 10)
    assert result["errors"] == errors(malformed=20, refused=10, closed=20)
    with serving(once(b"")) as server:
        result, _ = result_of(server, "-c 3", engine)
    assert result["latency_ns"] == NO_FIGURES


def test_a_refusal_before_the_request_is_refused(engine: str, dialect: str) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        connection.sendall(http(b"too many\n", status=b"503 Service Unavailable"))

    assert outcome(handler, "-c 10", engine, dialect) == (1, errors(refused=10))


@pytest.mark.parametrize("half_closes", [False, True])
def test_a_lost_connection_is_closed(engine: str, half_closes: bool) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        read_request(connection)
        connection.sendall(LINE_REPLY[:60])
        if half_closes:
            connection.shutdown(socket.SHUT_WR)
            server.hold()
        else:
            reset(connection)

    with serving(handler) as server:
        result, status = result_of(server, "-c 3", engine)
    assert (status, result["errors"]) == (1, errors(closed=3))


def test_a_closed_load_continues_after_a_dropped_connection(engine: str) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        for _ in range(5):
            read_request(connection)
            connection.sendall(LINE_REPLY)

    with serving(handler) as server:
        result, status = result_of(server, "--load closed --duration 0.4", engine)
    failed = result["errors"]["closed"]
    assert status == 1
    assert result["errors"] == errors(closed=failed)
    assert failed >= 2
    assert result["connections_opened"] in (failed, failed + 1)
    assert 5 * failed <= result["answered"] <= 5 * failed + 5


# Servers that answer slowly or not at all


@pytest.mark.parametrize("load", ["", "--load closed --duration 0.1"])
def test_a_load_on_a_server_that_never_answers_ends_in_time(
    engine: str, dialect: str, load: str
) -> None:
    with serving(lambda *_: server.hold()) as server:
        result, status = result_of(server, f"-c 5 --timeout 200 {load}", engine, dialect)
    assert (status, result["errors"]) == (1, errors(timeout=5))
    assert result["elapsed_ns"] < 5e9


def test_a_dripping_reply_does_not_extend_the_timeout(engine: str) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        read_request(connection)
        for byte in LINE_REPLY:
            connection.sendall(bytes([byte]))
            time.sleep(0.02)

    with serving(handler) as server:
        result, status = result_of(server, "-c 3 --timeout 300", engine)
    assert (status, result["errors"]) == (1, errors(timeout=3))
    assert 0.29e9 < result["elapsed_ns"] < 0.02e9 * len(LINE_REPLY)  # the duration of the reply


def test_a_refused_port_is_a_connect_error_with_advice(engine: str) -> None:
    with refusing_port() as address:
        finished = client("--engine", engine, "-c", "3", "--json", address)
    assert finished.returncode == 1
    assert json.loads(finished.stdout)["errors"] == errors(connect=3)
    assert json.loads(finished.stdout)["connections_opened"] == 0
    assert f"check that a regatta-server runs at {address}\n" in finished.stderr


def test_a_closed_load_does_not_spin_on_a_refused_port(engine: str) -> None:
    with refusing_port() as address:
        result, status = result_of(address, "--load closed --duration 0.5", engine)
    assert status == 1
    assert 1 <= result["errors"]["connect"] <= 11
    assert result["usage"]["self"]["user_ns"] + result["usage"]["self"]["system_ns"] < 0.2e9


def test_a_server_that_does_not_accept_is_a_connect_error(engine: str) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = address_of(listener)
        result, status = result_of(address, "-c 6 --timeout 300", engine)
    found = result["errors"]
    assert status == 1
    assert found == errors(connect=found["connect"], timeout=6 - found["connect"])
    assert found["connect"] >= 3
