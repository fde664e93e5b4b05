"""Both dialects: what is answered, however its bytes arrive."""

from __future__ import annotations

import json
import socket

import pytest

from tests.http_replies import parse_replies
from tests.servers import Server, read_all, read_reply, rows_of

GET = b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n"


def test_a_line_is_answered_with_as_many_rows_as_it_asks_for(server: Server) -> None:
    for count in (1, 2, 5, 64):
        assert 1 <= len(rows_of(server.ask(b"top %d\n" % count))) <= count
    assert len(rows_of(server.ask(b"top\n"))) == 2


def test_requests_split_at_every_byte(server: Server) -> None:
    for request in (b"top 3\n", GET % b"/top?n=3"):
        with server.connect() as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in request:
                connection.sendall(bytes([byte]))
            connection.shutdown(socket.SHUT_WR)
            received = read_all(connection)
        if request.startswith(b"GET"):
            (reply,) = parse_replies(received, ["GET"])
            received = reply.body + b"\n"
        assert len(rows_of(received)) == 3


def test_a_hundred_pipelined_lines_are_answered_in_order(server: Server) -> None:
    counts = [1 + i % 4 for i in range(100)]  # a small host has few processes
    replies = server.ask(b"".join(b"top %d\n" % count for count in counts)).split(b"\n\n")
    assert replies.pop() == b""
    assert [len(rows_of(reply + b"\n\n")) for reply in replies] == counts


def test_a_hundred_pipelined_http_requests_are_answered_in_order(server: Server) -> None:
    counts = [1 + i % 4 for i in range(100)]  # a small host has few processes
    received = server.ask(b"".join(GET % (b"/top?n=%d" % count) for count in counts))
    replies = parse_replies(received, ["GET"] * 100)
    assert [len(rows_of(reply.body + b"\n")) for reply in replies] == counts


def test_a_connection_stays_open_for_more_lines(server: Server) -> None:
    with server.connect() as connection:
        for count in (1, 2, 3):
            connection.sendall(b"top %d\n" % count)
            assert len(rows_of(read_reply(connection))) == count


def test_what_was_asked_before_the_client_ended_is_answered(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(b"top 1\ntop 2\n")
        connection.shutdown(socket.SHUT_WR)
        replies = read_all(connection).split(b"\n\n")
    assert [len(rows_of(reply + b"\n\n")) for reply in replies[:-1]] == [1, 2]


def test_json_is_valid_and_says_where_from_and_how_old(server: Server) -> None:
    (reply,) = parse_replies(server.ask(GET % b"/top?n=4&format=json"), ["GET"])
    assert reply.headers["content-type"] == "application/json"
    answer = json.loads(reply.body)
    assert answer["host"] == socket.gethostname()
    assert answer["source"] == "procfs"
    assert answer["tasks_seen"] > 4
    assert 0 <= answer["age_ms"] < 1000
    assert [process["rank"] for process in answer["processes"]] == [1, 2, 3, 4]
    keys = {"rank", "pid", "name", "user_seconds", "system_seconds", "started_at"}
    assert all(set(process) == keys for process in answer["processes"])
    assert all(process["started_at"] <= answer["taken_at"] for process in answer["processes"])


def test_head_is_get_without_the_body(server: Server) -> None:
    request = b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + GET % b"/healthz"
    head, get = parse_replies(server.ask(request), ["HEAD", "GET"])
    assert head.headers == get.headers
    assert (head.body, get.body) == (b"", b"ok\n")


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (GET % b"/nothing", 404),
        (GET % b"/top?n=0", 400),
        (GET % b"/top?n=999999", 400),
        (GET % b"/top?n=-1", 400),
        (GET % b"/top?n=two", 400),
        (GET % b"/top?format=xml", 400),
        (b"DELETE /top HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"GET /top HTTP/1.1\r\n\r\n", 400),
        (b"GET /top HTTP/3.0\r\nHost: x\r\n\r\n", 505),
        (GET % (b"/" + b"a" * 5000), 414),
        (b"GET /top HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 50000 + b"\r\n\r\n", 431),
    ],
)
def test_a_bad_http_request_is_answered_in_one_line(
    server: Server, request_bytes: bytes, status: int
) -> None:
    (reply,) = parse_replies(server.ask(request_bytes), ["GET"])
    assert reply.status == status
    assert reply.body.count(b"\n") == 1
    assert reply.body.endswith(b"\n")


@pytest.mark.parametrize(
    "request_bytes",
    [b"hello\n", b"\n", b"top 0\n", b"top 65\n", b"top -1\n", b"top two\n", b"a" * 50000, b"top 2"],
)
def test_a_bad_line_is_answered_with_an_error(server: Server, request_bytes: bytes) -> None:
    reply = server.ask(request_bytes)
    assert reply.startswith(b"error: ")
    assert reply.endswith(b"\n\n")
    assert reply.count(b"\n") == 2
