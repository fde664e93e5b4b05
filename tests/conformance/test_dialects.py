"""Both dialects: replies to good and bad requests, whatever the packet boundaries.

The unit tests of the exchange have every kind of bad request; these show that each design passes on
what it reads, and closes when it must."""

import contextlib
import socket

import pytest

from tests.answers import ask_http, ask_line
from tests.dialects import Dialect
from tests.http_replies import parse_replies
from tests.servers import RunningServer, read_all, rows_of
from tests.sockets import wait_until_read

GET = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD_LIMIT = 8192
BAD_HTTP = (
    (GET % b"/nothing", 404),
    (GET % b"/top?n=0", 400),
    (b"DELETE /top HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    (b"GET /top HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx", 400),
    (GET % (b"/" + b"a" * 5000), 414),
    (b"GET /top HTTP/1.1\r\nHost: localhost\r\nA: " + b"a" * 50000 + b"\r\n\r\n", 431),
)
BAD_LINES = (b"hello\n", b"\xff\xfe\n", b"top 65\n", b"top 2", b"a" * 50000)


@pytest.mark.parametrize("before", [0, 2], ids=["alone", "behind another"])
def test_a_request_split_at_any_byte_is_answered(
    server: RunningServer, dialect: Dialect, before: int
) -> None:
    """The server reads the first piece before the second is sent; all on one connection."""
    first, request = dialect.request(before) if before else b"", dialect.request(3)
    with server.connect() as connection:
        for cut in range(1, len(request)):
            connection.sendall(first + request[:cut])
            if before:
                assert len(dialect.read_answer(connection)) == before
            wait_until_read(connection)
            connection.sendall(request[cut:])
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


def test_a_bad_request_is_answered_in_one_line(server: RunningServer) -> None:
    for request, status in BAD_HTTP:
        (reply,) = parse_replies(server.ask(request))
        assert (reply.status, reply.body.count(b"\n"), reply.body[-1:]) == (status, 1, b"\n")
    for request in BAD_LINES:
        answer = server.ask(request)
        assert answer.startswith(b"error: ")
        assert (answer.count(b"\n"), answer[-2:]) == (2, b"\n\n")


def test_a_head_at_the_limit_is_served_and_one_byte_more_is_too_long(
    server: RunningServer,
) -> None:
    head = b"GET /top HTTP/1.1\r\nHost: localhost\r\nA: %s\r\n\r\n"
    for length, status in ((HEAD_LIMIT, 200), (HEAD_LIMIT + 1, 431)):
        request = head % (b"a" * (length - len(head) + len(b"%s")))
        with server.connect() as connection:
            connection.sendall(request[:-1])
            wait_until_read(connection)
            connection.sendall(request[-1:] if status == 200 else b"")
            connection.shutdown(socket.SHUT_WR)
            (reply,) = parse_replies(read_all(connection))
            assert reply.status == status


def test_an_endless_request_is_cut_off(server: RunningServer) -> None:
    """The client notices a reset, if it does not read the error reply."""
    for beginning in (b"top ", b"GET /", b"GET / HTTP/1.1\r\nA: "):
        with server.connect() as connection, contextlib.suppress(ConnectionError):
            connection.sendall(beginning)
            while True:
                connection.sendall(b"a" * 65536)
    assert len(rows_of(server.ask(b"top 2\n"))) == 2


QUERIES = (
    ["n=5", "by=recent", "window=1s"],
    ["n=64", "group=name"],
    ["n=3", "group=unit", "by=recent"],
    ["n=3", "group=cgroup", "format=json"],
    ["n=16", "threads=1", "command=1"],
    ["n=2", "threads=1", "command=1", "by=recent", "window=60s", "format=json"],
)


def test_the_reply_matches_the_query(server: RunningServer) -> None:
    for asked in QUERIES:
        for ask in (ask_line, ask_http):
            answer = ask(server, asked)
            assert 1 <= len(answer.rows) <= int(asked[0].removeprefix("n="))
            assert ("group" in answer.title) == any("group" in parameter for parameter in asked)
            assert (answer.elapsed is not None) == ("by=recent" in asked)
            assert [row.us for row in answer.rows] == sorted(
                (row.us for row in answer.rows), reverse=True
            )
            assert any(row.threads for row in answer.rows) == ("threads=1" in asked)
            if "command=1" not in asked:
                assert all(row.command is None for row in answer.rows)
