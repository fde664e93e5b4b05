"""regatta-client against servers that answer well, badly, slowly or not at all: a table of what
they do, and of what each engine must count.

What ends a reply, and what is wrong with one: tests/unit/client."""

import json
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.scripted_servers import (
    BODY,
    CHUNKED_HEAD,
    CLOSED,
    DIALECTS,
    LINE_REPLY,
    OK,
    ROWS,
    TITLE,
    TO_END,
    Handler,
    always,
    answering_first,
    answering_lines,
    asking,
    client,
    errors,
    expected,
    http,
    once,
    read_head,
    read_request,
    serving,
    silent,
)
from tests.servers import SANITIZER
from tests.sockets import reset

CHUNKED = CHUNKED_HEAD + b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
PATH = f"--path / {CLOSED}"
PONG = r"--request PING\r\n --until ^\+PONG\r\n"
MIXED_REPLY = b"$5\r\na\0b\r\n\r\n+PONG\r\n"


@dataclass(frozen=True)
class Case:
    """What a server does, the load on it, and what the client counts."""

    handler: Handler
    options: str = ""
    """`{NAME}` stands for one of the files."""
    dialect: str = "line"
    kind: str = ""
    """Of the error of every request that is not answered; empty: all are answered."""
    check: Callable[[dict[str, Any]], bool] = lambda _: True
    """Of the client's JSON, and of `accepted`, how many connections the server had."""
    says: str = ""
    """In the line on stderr."""
    files: dict[str, str] = field(default_factory=dict)


# What servers do


def after(count: int, reply: bytes, end: Callable[[socket.socket], object]) -> Handler:
    """Answers so many requests of each connection. The next one meets its end."""

    def handler(connection: socket.socket, _number: int) -> None:
        for _ in range(count):
            if not read_request(connection):
                return
            connection.sendall(reply)
        if read_request(connection):
            end(connection)

    return handler


def dripping(reply: bytes, pause_s: float) -> Handler:
    def handler(connection: socket.socket, _number: int) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while read_request(connection):
            for byte in reply:
                connection.sendall(bytes([byte]))
                time.sleep(pause_s)

    return handler


def half_closing(connection: socket.socket) -> None:
    connection.sendall(LINE_REPLY[:60])
    connection.shutdown(socket.SHUT_WR)
    silent(connection, 0)


def resetting(connection: socket.socket) -> None:
    connection.sendall(LINE_REPLY[:60])
    reset(connection)


def answering_one(connection: socket.socket, number: int) -> None:
    """One request of the first connection, and no other."""
    after(1 if number == 0 else 0, OK, lambda _: None)(connection, number)


def in_two_pieces(connection: socket.socket, number: int) -> None:
    """Of other lengths on each connection."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while connection.recv(4096) == b"PING\r\n":
        for piece in (MIXED_REPLY[:number], MIXED_REPLY[number:]):
            connection.sendall(piece)


def knowing_one_path(connection: socket.socket, _number: int) -> None:
    """Closes the connection of any other request."""
    wanted = b"GET /some/where?x=%20y HTTP/1.1\r\nHost: 127.0.0.1:"
    if read_request(connection).startswith(wanted):
        connection.sendall(OK)


def with_any_request(reply: bytes) -> Handler:
    def handler(connection: socket.socket, _number: int) -> None:
        connection.recv(4096)
        connection.sendall(reply)

    return handler


def echo(connection: socket.socket, _number: int) -> None:
    """Its reply begins before the upload is read."""
    with connection.makefile("rb") as file:
        while (found := read_head(file))[0]:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % found[1])
            left = found[1]
            while left > 0:
                piece = file.read(min(left, 16384))
                left -= len(piece)
                connection.sendall(piece)


def slow(connection: socket.socket, _number: int) -> None:
    """Takes 0.7 s to read an upload, and as long to answer: neither is the timeout of a second."""
    part_s, begun, taken = 0.7, time.monotonic(), 0
    while taken < LARGE:
        piece = connection.recv(1 << 16)
        if not piece:
            return
        taken += len(piece)
        time.sleep(max(0, begun + part_s * taken / LARGE - time.monotonic()))
    time.sleep(part_s)
    connection.sendall(OK)


LARGE = 3_000_000


def changing(reply: bytes) -> Handler:
    return always(lambda asked: http(BODY) if asked < 50 else reply)


def all_of(result: dict[str, Any], connections: int) -> bool:
    return bool(result["requests"] == result["answered"]) and (
        result["connections_opened"] == connections
    )


# The table

ASKED, EXPECT = f"--requests {{asked}} {CLOSED}", "--path / --expect {expect}"
UPLOAD = {"files": asking("POST", "a" * LARGE), "dialect": "http"}
CHANGED = {
    "500 instead of 200": http(BODY, status=b"500 Internal Server Error"),
    "1 byte instead of 3,000": http(b"!"),
    "2,999 bytes instead of 3,000": TO_END[:-1],
    "other bytes than before the race": CHUNKED.replace(b"hello", b"jello"),
}
OTHERS = {
    "another body": http(b"hello"),
    "404": http(b"hello", b"404 Not Found"),
    "no body": http(b""),
    "not HTTP": b"220 ready\r\n",
}
CASES = {
    "a reply byte by byte": Case(
        dripping(LINE_REPLY, 0.001),
        "-c 3",
        # The first byte arrives long before the end, and both are measured.
        check=lambda result: result["first_byte_ns"]["max"] < result["latency_ns"]["min"],
    ),
    "an announced close, whatever else the header says": Case(
        once(http(TITLE + ROWS, headers=b"Connection: close, keep-alive\r\n")),
        f"-c 2 {CLOSED}",
        "http",
        check=lambda result: (
            result["resent"] == 0 and result["connections_opened"] == result["requests"] > 2
        ),
    ),
    **{
        f"a known {what} keeps the connection": Case(
            always(reply),
            f"{PATH} -c 3",
            "http",
            check=lambda result, reply=reply: (
                all_of(result, 3) and result["bytes_received"] == result["answered"] * len(reply)
            ),
        )
        for what, reply in {"length": http(BODY), "last chunk": CHUNKED}.items()
    },
    **{
        f"a body to the end of its connection, {load}": Case(
            once(TO_END),
            f"--path / -c 3 {load}",
            "http",
            check=lambda result: (
                result["answered"] == result["connections_opened"] > 5
                and result["bytes_received"] == result["answered"] * len(TO_END)
            ),
        )
        for load in ("--rounds 5", CLOSED)
    },
    **{
        f"lines to {end}, {load}": Case(
            answering_lines(reply, closes=closes), f"--request top,please -c 3 {load}"
        )
        for end, reply, closes in (
            ("an empty one", b"one\n two\n\n", False),
            ("the end of the connection", b"one\ntwo", True),
        )
        for load in ("--rounds 5", CLOSED)
    },
    "a path as it is": Case(knowing_one_path, "--path /some/where?x=%20y", "http"),
    "a pattern however it is split": Case(
        in_two_pieces,
        f"{PONG} -c {len(MIXED_REPLY)} {CLOSED}",
        check=lambda result: (
            all_of(result, len(MIXED_REPLY))
            and result["bytes_received"] == result["answered"] * len(MIXED_REPLY)
        ),
    ),
    "more behind the pattern": Case(
        with_any_request(b"+PONG\r\n+PONG\r\n"), PONG, kind="malformed"
    ),
    "no match": Case(with_any_request(b"-ERR\r\n"), PONG, kind="closed"),
    **{
        f"a refusal before the request, {dialect}": Case(
            lambda connection, _: connection.sendall(http(b"too many\n", b"503 Unavailable")),
            *("-c 10", dialect, "refused"),
        )
        for dialect in DIALECTS
    },
    "a FIN within a reply": Case(after(0, b"", half_closing), "-c 3", kind="closed"),
    "a RST within a reply": Case(after(0, b"", resetting), "-c 3", kind="closed"),
    "a FIN behind five replies": Case(
        after(5, LINE_REPLY, lambda _: None),
        "--load closed --duration 0.4",
        kind="closed",
        check=lambda result: (
            (failed := result["errors"]["closed"]) >= 2
            and result["connections_opened"] in (failed, failed + 1)
            and 5 * failed <= result["answered"] <= 5 * failed + 5
        ),
    ),
    **{
        f"no answer, {dialect} {load}": Case(
            silent,
            f"-c 5 --timeout 200 {load}",
            dialect,
            "timeout",
            lambda result: result["requests"] == 5 and result["elapsed_ns"] < 5e9,
        )
        for dialect in DIALECTS
        for load in ("", "--load closed --duration 0.1")
    },
    "drops that do not extend the timeout": Case(
        dripping(LINE_REPLY, 0.02),
        "-c 3 --timeout 300",
        kind="timeout",
        check=lambda result: 0.29e9 < result["elapsed_ns"] < 0.02e9 * len(LINE_REPLY),
    ),
    # Requests of HTTP that meet the end of an idle connection
    **{
        f"{method} is sent again after {how}": Case(
            after(5, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + body, end),
            f"{ASKED} -c 3",
            "http",
            check=lambda result: (
                1 <= result["resent"] < result["accepted"]
                and result["resent"] >= result["connections_opened"] - 3
            ),
            files=asking(method, status="200"),
        )
        for method, body in {"GET": b"ok", "HEAD": b""}.items()
        for how, end in {"FIN": lambda _: None, "RST": reset}.items()
    },
    "DELETE is sent once": Case(
        after(2, OK, lambda _: None),
        ASKED,
        "http",
        "closed",
        lambda result: result["resent"] == 0,
        files=asking("DELETE"),
    ),
    "a request is sent again only once": Case(
        answering_one,
        PATH,
        "http",
        "closed",
        lambda result: (result["answered"], result["resent"]) == (1, 1),
    ),
    "a request is not sent again after a byte": Case(
        after(1, OK, lambda connection: connection.sendall(OK[:5])),
        PATH,
        "http",
        "closed",
        lambda result: result["resent"] == 0,
    ),
    # Uploads
    "an upload that is closed unread": Case(
        answering_first([], closes=True),
        ASKED,
        kind="early",
        check=lambda result: result["answered"] == 0,
        says="early: answered before the request was read",
        **UPLOAD,
    ),
    "an echo": Case(echo, ASKED, check=lambda result: result["answered"] > 0, **UPLOAD),
    "the timeout covers an upload and its reply": Case(
        slow, "--requests {asked} --timeout 1000", kind="timeout", **UPLOAD
    ),
    # --expect
    **{
        f"answered {what}": Case(
            once(reply),
            f"{EXPECT} -c 3",
            "http",
            "changed",
            lambda result: result["answered"] == 0,
            f"for example changed: answered {what}; ",
            {"expect": expected()},
        )
        for what, reply in CHANGED.items()
    },
    **{
        f"a change within {most} replies": Case(
            changing(reply),
            f"{EXPECT} --load closed --duration {3 if SANITIZER else 0.5}",
            "http",
            "changed",
            lambda result, most=most: (
                50 <= result["answered"] <= result["connections_opened"] * (50 + most)
            ),
            files={"expect": expected()},
        )
        # The length tells at once; of the same length, one reply of 64 is compared.
        for most, reply in ((1, http(b"!")), (64, http(BODY.upper())))
    },
    **{
        f"another server: {what}": Case(
            once(reply), "", "http", kind, says="for another server give --path / (in a study: "
        )
        for (what, reply), kind in zip(
            OTHERS.items(), ("malformed", "refused", "malformed", "malformed"), strict=True
        )
    },
    "a server that answered before is Regatta": Case(
        once(lambda number: LINE_REPLY if number == 0 else b"odd\r\n\r\n"),
        "--rounds 2 -c 2",
        kind="malformed",
        says="; check the server at 127.0.0.1:",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_a_server_does_is_counted(engine: str, case: Case, tmp_path: Path) -> None:
    for name, text in case.files.items():
        (tmp_path / name).write_text(text)
    options = case.options.format_map({name: tmp_path / name for name in case.files})
    how = ("--json", "--engine", engine, "--dialect", case.dialect, *options.split())
    with serving(case.handler) as server:
        done = client(*how, server.address)
    result = json.loads(done.stdout)
    failed = result["requests"] - result["answered"]
    assert result["errors"] == errors(**({case.kind: failed} if case.kind else {}))
    assert bool(failed) == bool(case.kind)
    assert (done.returncode, done.stderr.count("\n")) == ((1, 1) if failed else (0, 0))
    assert case.says in done.stderr
    assert case.check({**result, "accepted": server.accepted}), result
