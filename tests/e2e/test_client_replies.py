"""regatta-client against servers that answer well, badly, slowly or not at all: a table of what
they do, and of what each engine must count.

What ends a reply, and what is wrong with one: tests/unit/client."""

import json
import re
import socket
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from tests.commands import run
from tests.e2e.hosts_file import with_hosts, within
from tests.e2e.scripted_servers import (
    DIALECTS,
    LINE_REPLY,
    NO_FIGURES,
    REPLIES,
    ROWS,
    TITLE,
    Handler,
    address_of,
    always,
    client,
    errors,
    http,
    once,
    open_load,
    read_request,
    refusing_port,
    result_of,
    serving,
    shown_by,
    silent,
)
from tests.servers import program, running
from tests.sockets import reset
from tests.tokens import TOKEN, token_file

OK = http(b"ok")
BODY = b"hello " * 500
CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED = CHUNKED_HEAD + b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
TO_END = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + BODY
CLOSED = "--load closed --duration 0.2"
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


def refusing(connection: socket.socket, _number: int) -> None:
    """Before the request has come."""
    connection.sendall(http(b"too many\n", status=b"503 Service Unavailable"))


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


def answering_lines(
    reply: bytes, seen: list[bytes] | None = None, *, closes: bool = False
) -> Handler:
    def handler(connection: socket.socket, _number: int) -> None:
        with connection.makefile("rb") as lines:
            for line in lines:
                if seen is not None:
                    seen.append(line)
                connection.sendall(reply)
                if closes:
                    return

    return handler


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


def read_head(file: BinaryIO) -> tuple[bytes, int]:
    """The head of a request, empty at the end of the connection, and the length of its body."""
    head = line = file.readline()
    while line.strip():
        head += (line := file.readline())
    said = re.search(rb"\r\nContent-Length: (\d+)", head)
    return head, int(said[1]) if said else 0


def answering_first(taken: list[bytes], reply: bytes = OK, closes: bool = False) -> Handler:
    """Answers each upload when its head has come, then reads it, or closes the connection."""

    def handler(connection: socket.socket, _number: int) -> None:
        with connection.makefile("rb") as file:
            while (found := read_head(file))[0]:
                taken.append(found[0].splitlines()[0])
                connection.sendall(reply)
                if closes:
                    return
                file.read(found[1])

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


def asking(method: str, body: str = "", status: str = "200") -> dict[str, str]:
    return {"asked": rf"1:{status} {method} / HTTP/1.1\r\n\r\n{body}" + "\n"}


def expected(body: bytes = BODY, status: int = 200) -> str:
    return f"{status} {len(body)} {len(body)} {zlib.crc32(body):08x}\n"


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
        f"a refusal before the request, {dialect}": Case(refusing, "-c 10", dialect, "refused")
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
            f"{EXPECT} --load closed --duration 0.3",
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


# What takes more than a line of the table


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


BAD = [b"hello\n", LINE_REPLY + b"more", b"error: no\n\n", LINE_REPLY[:50], b""]


def test_errors_are_counted_by_kind(engine: str) -> None:
    with serving(once(lambda number: [LINE_REPLY, *BAD][number % 6])) as server:
        result, status = result_of(server, "-c 60", engine)
    assert (status, result["requests"], result["answered"]) == (1, 60, 10)
    assert result["errors"] == errors(malformed=20, refused=10, closed=20)
    with serving(once(b"")) as server:
        result, _ = result_of(server, "-c 3", engine)
    assert result["latency_ns"] == NO_FIGURES


def test_a_refused_port_is_a_connect_error_with_advice_and_costs_no_cpu(engine: str) -> None:
    with refusing_port() as address:
        finished = client("--engine", engine, "-c", "3", "--json", address)
        closed, status = result_of(address, "--load closed --duration 0.5", engine)
    assert (finished.returncode, status) == (1, 1)
    assert json.loads(finished.stdout)["errors"] == errors(connect=3)
    assert json.loads(finished.stdout)["connections_opened"] == 0
    assert f"check that a regatta-server runs at {address}\n" in finished.stderr
    assert 1 <= closed["errors"]["connect"] <= 11
    assert closed["usage"]["self"]["user_ns"] + closed["usage"]["self"]["system_ns"] < 0.2e9


def test_a_server_that_does_not_accept_is_a_connect_error(engine: str) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        result, status = result_of(address_of(listener), "-c 6 --timeout 300", engine)
    found = result["errors"]
    assert status == 1
    assert found == errors(connect=found["connect"], timeout=6 - found["connect"])
    assert found["connect"] >= 3


def test_a_missing_and_a_wrong_token_are_told_apart(tmp_path: Path, dialect: str) -> None:
    right = token_file(tmp_path)
    (tmp_path / "other").mkdir()
    wrong = token_file(tmp_path / "other", TOKEN[::-1])
    how = ("--quiet", "--dialect", dialect)
    with running(tmp_path, "--work", "snapshot", "--token-file", str(right)) as server:
        missing = client(*how, server.address).stderr
        other = client(*how, "--token-file", str(wrong), server.address).stderr
    assert missing.endswith("; this server requires a token: give --token-file FILE\n")
    assert other.endswith("; the token of --token-file is not this server's\n")


def test_an_open_load_accepts_replies_that_end_with_their_connection() -> None:
    with serving(once(TO_END)) as server:
        result, status = result_of(server, f"--path / -c 3 {open_load(100, 0.3)}", dialect="http")
    # A busy machine may not start the last requests.
    assert (status, result["answered"]) == (0, 30 - result["unstarted"])
    assert result["connections_opened"] >= result["answered"] > 0


def test_the_body_is_printed_with_escaped_control_characters(engine: str) -> None:
    with serving(always(http(b"one\n\x1b[2Jtwo\n\xff"))) as server:
        shown = shown_by("--engine", engine, "--dialect", "http", "--path", "/", server.address)
    assert "\n  one\n  \\x1b[2Jtwo\n  \\xff\n" in shown


def test_our_own_server_answers_any_line(engine: str, tmp_path: Path) -> None:
    with running(tmp_path) as server:
        asked = ("--request", "top 3 threads=1", "--engine", engine)
        assert "rank pid" in shown_by(*asked, server.address)
        result, status = result_of(server, "--request nonsense", engine)
    assert (status, result["errors"]) == (1, errors(refused=1))


def test_a_line_is_sent_as_it_is_and_a_reply_that_is_too_long_to_show_is_cut(engine: str) -> None:
    seen: list[bytes] = []
    long = b"\x1b[2Jtwo\n" + b"".join(b"line %d\n" % number for number in range(20_000))
    with serving(answering_lines(long, seen, closes=True)) as server:
        shown = shown_by("--request", "GET it, please", "--engine", engine, server.address)
    assert seen == [b"GET it, please\n"]
    lines = shown.splitlines()
    assert "  \\x1b[2Jtwo" in lines
    numbers = [
        int(line.split()[1])
        for line in lines[: lines.index("  ... (cut)")]
        if line.startswith("  line ")
    ]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 1000


MIX = r"""# a mix
6 GET /a HTTP/1.1\r\n\r\n
2 POST /items HTTP/1.1\r\nContent-Type: text/plain\r\n\r\nh\xc3\xa4\x00
2 HEAD /a HTTP/1.1\r\nHost: other\r\n\r\n
2 DELETE /a HTTP/1.1\r\n\r\n
"""
ANSWERS = {
    b"GET": CHUNKED_HEAD + b"2\r\nok\r\n0\r\n\r\n",
    b"POST": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
    b"HEAD": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
    b"DELETE": b"HTTP/1.1 204 No Content\r\n\r\n",
}


@pytest.mark.parametrize("load", ["--rounds 4", "--load closed --duration 0.3 --per-connection 6"])
def test_requests_of_a_file_are_sent_whole_and_in_proportion(
    engine: str, tmp_path: Path, load: str
) -> None:
    """What the client adds to each, and their order: tests/unit/client/test_request.c."""
    seen: list[bytes] = []

    def handler(connection: socket.socket, _number: int) -> None:
        with connection.makefile("rb") as file:
            while (found := read_head(file))[0]:
                seen.append(found[0] + file.read(found[1]))
                connection.sendall(ANSWERS[found[0].split()[0]])

    (tmp_path / "mix").write_text(MIX)
    options = f"--requests {tmp_path / 'mix'} --host localhost:80 -c 3 {load}"
    with serving(handler) as server:
        result, status = result_of(server, options, engine, "http")
    assert (status, result["errors"]) == (0, errors())
    counts = Counter(request.split()[0] for request in seen)
    turns = len(seen) / 6
    assert abs(counts[b"GET"] - 3 * turns) <= 3
    assert all(abs(counts[method] - turns) <= 3 for method in (b"POST", b"HEAD", b"DELETE"))
    posted = next(request for request in seen if request.startswith(b"POST"))
    assert posted.startswith(b"POST /items HTTP/1.1\r\nHost: localhost:80\r\n")
    assert posted.endswith(b"Content-Length: 4\r\nContent-Type: text/plain\r\n\r\nh\xc3\xa4\0")


def test_each_request_of_a_list_has_its_own_expected_reply(engine: str, tmp_path: Path) -> None:
    replies = {
        b"/a": http(BODY),
        b"/b": http(b"", status=b"303 See Other"),
        b"/c": b"HTTP/1.1 204 No Content\r\n\r\n",
        b"/d": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",  # to HEAD
    }

    def handler(connection: socket.socket, _number: int) -> None:
        while request := read_request(connection):
            connection.sendall(replies[request.split(b" ")[1]])

    asked = ("3 GET /a", "1:404 GET /b", "2 GET /c", "1 HEAD /d")
    right = [expected(), expected(b"", 303), expected(b"", 204), expected(b"")]
    for name, text in {
        "asked": "".join(f"{text} HTTP/1.1\\r\\n\\r\\n\n" for text in asked),
        "right": "".join(right),
        "wrong": "".join(right[1:] + right[:1]),
    }.items():
        (tmp_path / name).write_text(text)
    options = f"--requests {tmp_path}/asked {CLOSED} --expect {tmp_path}"
    with serving(handler) as server:
        result, status = result_of(server, f"{options}/right", engine, "http")
        assert (status, result["errors"]) == (0, errors())
        result, status = result_of(server, f"{options}/wrong", engine, "http")
    assert (status, result["answered"]) == (1, 0)
    assert result["errors"] == errors(changed=result["requests"])


NARROW = """
import json, socket, subprocess, sys
from pathlib import Path
from tests.e2e.scripted_servers import http, result_of, serving
from tests.e2e.test_client_replies import answering_first
Path("/proc/sys/net/ipv4/tcp_wmem").write_text("4096 4096 4096")
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
taken = []
options, engine, reply = sys.argv[1:]
with serving(answering_first(taken, http(b"ok", status=reply.encode()))) as server:
    server.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    server.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 100)
    result, status = result_of(server, options, engine, "http")
print(json.dumps([status, result, sorted({line.decode() for line in taken})]))
"""
"""Runs a load where only a few kB of an upload are on their way, and prints what came of it."""


@pytest.mark.parametrize(
    ("size", "reply", "kind"),
    [
        (60_000, "200 OK", "answered"),
        (900_000, "200 OK", "early"),
        (900_000, "413 Content Too Large", "answered"),  # it declines, and need not read
    ],
)
def test_no_request_begins_behind_half_an_upload(
    engine: str, tmp_path: Path, size: int, reply: str, kind: str
) -> None:
    (tmp_path / "asked").write_text(asking("POST", "a" * size, reply[:3])["asked"])
    options = f"--requests {tmp_path / 'asked'} {CLOSED} -c 2 --timeout 1000"
    done = run(*within("--net"), sys.executable, "-c", NARROW, options, engine, reply)
    status, result, taken = json.loads(done.stdout)
    assert taken == ["POST / HTTP/1.1"]
    assert result["requests"] > 2
    found = {"answered": result["answered"], **result["errors"]}
    assert {name: count for name, count in found.items() if count} == {kind: result["requests"]}
    assert status == (kind == "early")


@pytest.mark.parametrize("sources", [(), ("--sources", "127.0.0.2", "--timeout", "100")])
def test_a_name_is_asked_at_the_address_that_answers_or_fits_the_sources(
    engine: str, tmp_path: Path, sources: tuple[str, ...]
) -> None:
    """The name lists an address of another family first. With sources, a server is on both."""
    bound = with_hosts(tmp_path, "::1 two-of-them\n127.0.0.1 two-of-them\n")
    how = ("--engine", engine, "--dialect", "http", "--path", "/", "--quiet", *sources)
    with serving(always(OK)) as server, socket.socket(socket.AF_INET6) as other:
        port = server.address.split(":")[1]
        if sources:
            other.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            other.bind(("::1", int(port)))
            other.listen()
        done = run(*bound, program("regatta-client"), *how, f"two-of-them:{port}")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"1 request to 127.0.0.1:{port} " in done.stdout
