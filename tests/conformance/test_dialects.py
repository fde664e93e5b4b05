"""Both dialects: replies to good and bad requests, whatever the packet boundaries."""

import contextlib
import json
import socket

import pytest

from tests.dialects import Dialect
from tests.http_replies import parse_replies
from tests.servers import RunningServer, read_all, rows_of
from tests.sockets import wait_until_read

GET = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
LINE_LIMIT = 128
HEAD_LIMIT = 8192


def test_a_request_is_answered_with_as_many_rows_as_it_asks_for(
    server: RunningServer, dialect: Dialect
) -> None:
    for count in (1, 2, 5, 64):
        (rows,) = dialect.answers(server.ask(dialect.request(count)))
        assert 1 <= len(rows) <= count


def test_two_rows_are_the_default(server: RunningServer) -> None:
    assert len(rows_of(server.ask(b"top\n"))) == 2
    (reply,) = parse_replies(server.ask(GET % b"/top"))
    assert len(rows_of(reply.body + b"\n")) == 2


def test_a_request_split_at_any_byte_is_answered(server: RunningServer, dialect: Dialect) -> None:
    """The server reads the first piece before the second is sent; all on one connection."""
    request = dialect.request(3)
    with server.connect() as connection:
        for cut in range(1, len(request)):
            connection.sendall(request[:cut])
            wait_until_read(connection)
            connection.sendall(request[cut:])
            assert len(dialect.read_answer(connection)) == 3


def test_a_request_sent_byte_by_byte_is_answered(server: RunningServer, dialect: Dialect) -> None:
    with server.connect() as connection:
        for byte in dialect.request(3):
            connection.sendall(bytes([byte]))
            wait_until_read(connection)
        assert len(dialect.read_answer(connection)) == 3


def test_a_request_may_arrive_with_any_part_of_the_next(
    server: RunningServer, dialect: Dialect
) -> None:
    first, second = dialect.request(2), dialect.request(3)
    with server.connect() as connection:
        for cut in range(1, len(second)):
            connection.sendall(first + second[:cut])
            assert len(dialect.read_answer(connection)) == 2
            connection.sendall(second[cut:])
            assert len(dialect.read_answer(connection)) == 3


def test_a_hundred_pipelined_requests_are_answered_in_order(
    server: RunningServer, dialect: Dialect
) -> None:
    """The client half-closes after the last."""
    counts = [1 + i % 4 for i in range(100)]  # a small host has few processes
    received = server.ask(b"".join(dialect.request(count) for count in counts))
    assert [len(rows) for rows in dialect.answers(received)] == counts


def test_a_truncated_request_gets_an_error_after_the_replies_due(
    server: RunningServer, dialect: Dialect
) -> None:
    request = dialect.request(2)
    for cut in range(1, len(request)):
        received = server.ask(request + request[:cut])
        whole, ending, complaint = received.partition(dialect.ending)
        assert [len(rows) for rows in dialect.answers(whole)] == [2]
        assert ending
        assert complaint.endswith(b"\n")


def test_a_client_that_sends_nothing_gets_nothing(server: RunningServer) -> None:
    assert server.ask(b"") == b""


def test_the_server_closes_on_request_and_after_an_unparsable_request(
    server: RunningServer,
) -> None:
    """The server closes first."""
    for request in (
        b"GET /top HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET /top HTTP/1.0\r\n\r\n",
        b"GET /top HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n",
        b"hello\n",
    ):
        with server.connect() as connection:
            connection.sendall(request)
            assert read_all(connection)


def test_json_is_valid_and_has_source_and_age(server: RunningServer) -> None:
    (reply,) = parse_replies(server.ask(GET % b"/top?n=4&format=json"))
    assert reply.headers["content-type"] == "application/json"
    answer = json.loads(reply.body)
    assert answer["host"] == socket.gethostname()
    assert answer["source"] in ("procfs", "bpf")
    assert answer["tasks_seen"] > 4
    assert 0 <= answer["age_ms"] < 1000
    assert [process["rank"] for process in answer["processes"]] == [1, 2, 3, 4]
    keys = {"rank", "pid", "name", "user_seconds", "system_seconds", "started_at"}
    assert all(set(process) == keys for process in answer["processes"])
    assert all(process["started_at"] <= answer["taken_at"] for process in answer["processes"])


def test_head_is_get_without_the_body(server: RunningServer) -> None:
    request = b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + GET % b"/healthz"
    head, get = parse_replies(server.ask(request), ["HEAD", "GET"])
    for reply in (head, get):
        assert reply.headers.pop("date")  # the two may differ by a second
    assert head.headers == get.headers
    assert (head.body, get.body) == (b"", b"ok\n")


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (GET % b"/nothing", 404),
        (GET % b"/top?n=0", 400),
        (b"DELETE /top HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        (b"GET /top HTTP/1.1\r\n\r\n", 400),
        (b"GET /top HTTP/1.1\nHost: localhost\n\n", 400),
        (b"GET /top HTTP/1.1\r\nHost: localhost\r\nA: \0\r\n\r\n", 400),
        (b"GET /top HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx", 400),
        (b"GET /top HTTP/3.0\r\nHost: localhost\r\n\r\n", 505),
        (GET % (b"/" + b"a" * 5000), 414),
        (b"GET /top HTTP/1.1\r\nHost: localhost\r\nA: " + b"a" * 50000 + b"\r\n\r\n", 431),
    ],
    ids=lambda value: repr(value[:40]) if isinstance(value, bytes) else None,
)
def test_a_bad_http_request_is_answered_in_one_line(
    server: RunningServer, request_bytes: bytes, status: int
) -> None:
    (reply,) = parse_replies(server.ask(request_bytes))
    assert reply.status == status
    assert reply.body.count(b"\n") == 1
    assert reply.body.endswith(b"\n")


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"hello\n",
        b"\xff\xfe\n",
        b"top 65\n",
        b"top 2",
        b"t" * (LINE_LIMIT + 1) + b"\n",
        b"a" * 50000,
    ],
    ids=lambda value: repr(value[:40]),
)
def test_a_bad_line_is_answered_with_an_error(server: RunningServer, request_bytes: bytes) -> None:
    reply = server.ask(request_bytes)
    assert reply.startswith(b"error: ")
    assert reply.endswith(b"\n\n")
    assert reply.count(b"\n") == 2


def test_a_head_at_the_limit_is_served_and_one_byte_more_is_too_long(
    server: RunningServer,
) -> None:
    head = b"GET /top HTTP/1.1\r\nHost: localhost\r\nA: %s\r\n\r\n"
    for length, status in ((HEAD_LIMIT, 200), (HEAD_LIMIT + 1, 431)):
        request = head % (b"a" * (length - len(head) + len(b"%s")))
        assert len(request) == length
        with server.connect() as connection:
            connection.sendall(request[:-1])
            wait_until_read(connection)
            connection.sendall(request[-1:] if status == 200 else b"")
            connection.shutdown(socket.SHUT_WR)
            (reply,) = parse_replies(read_all(connection))
            assert reply.status == status


@pytest.mark.parametrize("beginning", [b"top ", b"GET /", b"GET / HTTP/1.1\r\nA: "])
def test_an_endless_request_is_cut_off(server: RunningServer, beginning: bytes) -> None:
    """The client notices a reset, if it does not read the error reply."""
    with server.connect() as connection, contextlib.suppress(ConnectionError):
        connection.sendall(beginning)
        while True:
            connection.sendall(b"a" * 65536)
    assert len(rows_of(server.ask(b"top 2\n"))) == 2


@pytest.mark.parametrize("ending", [b"\n\r\n", b"\n\n", b"\r\n\n"])
def test_a_head_with_a_bare_line_feed_is_refused_at_once(
    server: RunningServer, ending: bytes
) -> None:
    """Not waited for more."""
    with server.connect() as client:
        client.sendall(b"GET /top HTTP/1.1\r\nHost: localhost" + ending)
        assert client.recv(100).startswith(b"HTTP/1.1 400 ")
