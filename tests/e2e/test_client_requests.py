"""--path, --request, --requests and --until: any request to any HTTP or line-based server.

What ends a reply, and what is wrong with one: tests/unit/reply."""

import re
import socket
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.scripted_servers import (
    Handler,
    always,
    client,
    errors,
    http,
    once,
    open_load,
    outcome,
    refusal,
    result_of,
    serving,
    shown_by,
)
from tests.servers import running

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
OPEN_END = HEAD + b"Content-Type: text/plain\r\n\r\nhello world"
PATH = "--path /some/where?x=%20y"
CLOSED = "--load closed --duration 0.2"
LOADS = pytest.mark.parametrize("load", ["--rounds 5", CLOSED])


@pytest.mark.parametrize("reply", [http(b"hello world"), CHUNKED], ids=["length", "chunked"])
def test_a_reply_with_a_known_end_keeps_the_connection(engine: str, reply: bytes) -> None:
    requests: list[bytes] = []
    with serving(always(reply, seen=requests)) as server:
        result, status = result_of(server, f"{PATH} -c 3 {CLOSED}", engine, "http")
    assert (status, result["errors"]) == (0, errors())
    assert result["connections_opened"] == 3
    assert result["bytes_received"] == result["answered"] * len(reply)
    assert requests[0].startswith(b"GET /some/where?x=%20y HTTP/1.1\r\nHost: ")


@LOADS
def test_a_reply_may_end_with_its_connection(engine: str, load: str) -> None:
    with serving(once(OPEN_END)) as server:
        result, status = result_of(server, f"{PATH} -c 3 {load}", engine, "http")
    assert (status, result["errors"]) == (0, errors())
    assert result["answered"] == result["connections_opened"] > 5
    assert result["bytes_received"] == result["answered"] * len(OPEN_END)


def test_an_open_load_accepts_such_replies_too() -> None:
    with serving(once(OPEN_END)) as server:
        result, status = result_of(server, f"{PATH} -c 3 {open_load(100, 0.3)}", dialect="http")
    # A busy machine may not start the last requests.
    assert (status, result["answered"]) == (0, 30 - result["unstarted"])
    assert result["connections_opened"] >= result["answered"] > 0


def test_the_body_is_printed_with_escaped_control_characters(engine: str) -> None:
    with serving(always(http(b"one\n\x1b[2Jtwo\n\xff"))) as server:
        shown = shown_by(*("--engine", engine, "--dialect", "http", *PATH.split()), server.address)
    assert "\n  one\n  \\x1b[2Jtwo\n  \\xff\n" in shown


# Lines


def answering(reply: bytes, seen: list[bytes] | None = None, closes: bool = False) -> Handler:
    """Sends the same reply to each line; with `closes`, closes after the first."""

    def handler(connection: socket.socket, _number: int) -> None:
        with connection.makefile("rb") as lines:
            for line in lines:
                if seen is not None:
                    seen.append(line)
                connection.sendall(reply)
                if closes:
                    return

    return handler


@LOADS
@pytest.mark.parametrize(
    ("reply", "closes"), [(b"one\n two\n\n", False), (b"one\ntwo", True)], ids=["end", "close"]
)
def test_a_line_is_sent_unchanged_and_its_reply_ends_as_it_may(
    engine: str, load: str, reply: bytes, closes: bool
) -> None:
    seen: list[bytes] = []
    handler = answering(reply, seen, closes)
    assert outcome(handler, f"--request top,please -c 3 {load}", engine) == (0, errors())
    assert set(seen) == {b"top,please\n"}


def test_our_own_server_answers_any_line(engine: str, tmp_path: Path) -> None:
    with running(tmp_path) as server:
        asked = ("--request", "top 3 threads=1", "--engine", engine)
        assert "rank pid" in shown_by(*asked, server.address)
        result, status = result_of(server, "--request nonsense", engine)
    assert (status, result["errors"]) == (1, errors(refused=1))


def test_a_reply_that_is_too_long_to_show_is_cut_and_says_so(engine: str) -> None:
    long = b"\x1b[2Jtwo\n" + b"".join(b"line %d\n" % number for number in range(20_000))
    with serving(answering(long, closes=True)) as server:
        shown = shown_by("--request", "GET it, please", "--engine", engine, server.address)
    lines = shown.splitlines()
    assert "  \\x1b[2Jtwo" in lines
    numbers = [
        int(line.split()[1])
        for line in lines[: lines.index("  ... (cut)")]
        if line.startswith("  line ")
    ]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 1000


# Requests of a file

FILE = r"""# a mix
6 GET /a HTTP/1.1\r\n\r\n
2 POST /items HTTP/1.1\r\nContent-Type: text/plain\r\n\r\nh\xc3\xa4\x00
2 HEAD /a HTTP/1.1\r\nHost: other\r\n\r\n
2 DELETE /a HTTP/1.1\r\n\r\n
"""
REPLIES = {
    b"GET": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    b"POST": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
    b"HEAD": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
    b"DELETE": b"HTTP/1.1 204 No Content\r\n\r\n",
}


def method_of(request: bytes) -> bytes:
    return request.split(b" ", 1)[0]


def read_whole(connection: socket.socket) -> bytes:
    """One HTTP request with its body; b"" if the client has closed."""
    request = b""
    while b"\r\n\r\n" not in request:
        more = connection.recv(4096)
        if not more:
            return b""
        request += more
    said = re.search(rb"Content-Length: (\d+)\r\n", request)
    end = request.index(b"\r\n\r\n") + 4 + (int(said[1]) if said else 0)
    while len(request) < end:
        request += connection.recv(4096)
    return request


def requests_of(folder: Path, options: str, engine: str = "epoll") -> tuple[list[bytes], str]:
    """What a server gets of a load of the file, which must be answered; and its address."""
    seen: list[bytes] = []

    def handler(connection: socket.socket, _number: int) -> None:
        while request := read_whole(connection):
            seen.append(request)
            connection.sendall(REPLIES[method_of(request)])

    mix = folder / "mix"
    mix.write_text(FILE)
    with serving(handler) as server:
        result, status = result_of(server, f"--requests {mix} {options}", engine, "http")
    assert (status, result["errors"]) == (0, errors())
    return seen, server.address


@pytest.mark.parametrize("load", ["--rounds 4", "--load closed --duration 0.3 --per-connection 6"])
def test_requests_are_sent_in_proportion(engine: str, tmp_path: Path, load: str) -> None:
    seen, _ = requests_of(tmp_path, f"-c 3 {load}", engine)
    counts = Counter(map(method_of, seen))
    turns = len(seen) / 6
    assert abs(counts[b"GET"] - 3 * turns) <= 3
    assert all(abs(counts[method] - turns) <= 3 for method in (b"POST", b"HEAD", b"DELETE"))


@pytest.mark.parametrize("host", [None, "localhost:80"])
def test_the_client_adds_what_depends_on_the_load(tmp_path: Path, host: str | None) -> None:
    """The order is the same every time. A request may name its own host."""
    seen, address = requests_of(tmp_path, f"--rounds 9{f' --host {host}' if host else ''}")
    assert [method_of(request) for request in seen][:6] == (
        [b"GET", b"POST", b"GET", b"HEAD", b"DELETE", b"GET"]
    )
    whole = {method_of(request): request for request in seen}
    named, close = (host or address).encode(), b"Connection: close\r\n"
    assert whole[b"GET"] == b"GET /a HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (named, close)
    assert whole[b"HEAD"] == b"HEAD /a HTTP/1.1\r\n%sHost: other\r\n\r\n" % close
    assert whole[b"POST"] == (
        b"POST /items HTTP/1.1\r\nHost: %s\r\n%sContent-Length: 4\r\n"
        b"Content-Type: text/plain\r\n\r\nh\xc3\xa4\0" % (named, close)
    )


REPLY = b"$5\r\na\0b\r\n\r\n+PONG\r\n"
PONG = ("--request", r"PING\r\n", "--until", r"^\+PONG\r\n")


def test_a_reply_ends_at_the_pattern_however_it_is_split(engine: str) -> None:
    """Each connection gets it in two pieces of other lengths."""

    def handler(connection: socket.socket, number: int) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while request := connection.recv(4096):
            assert request == b"PING\r\n"
            for piece in (REPLY[:number], REPLY[number:]):
                connection.sendall(piece)

    with serving(handler) as server:
        result, status = result_of(server, f"{' '.join(PONG)} -c {len(REPLY)} {CLOSED}", engine)
    assert (status, result["errors"]) == (0, errors())
    assert result["connections_opened"] == len(REPLY)
    assert result["bytes_received"] == result["answered"] * len(REPLY)


@pytest.mark.parametrize(
    ("reply", "kind"), [(b"+PONG\r\n+PONG\r\n", "malformed"), (b"-ERR\r\n", "closed")], ids=repr
)
def test_a_reply_that_goes_on_or_never_matches_is_an_error(
    engine: str, reply: bytes, kind: str
) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        connection.recv(4096)
        connection.sendall(reply)

    assert outcome(handler, " ".join(PONG), engine) == (1, errors(**{kind: 1}))


WRONG = [
    (("--request", "two\nlines"), "--request must be a line"),
    (("--request", "x", "--dialect", "http"), "--request is for --dialect line"),
    (("--request", "x", "-n", "3"), "--request and --top exclude each other"),
    (("--request", "x", "--until", "a$"), "leave out $"),
    (("--request", r"\q", "--until", "x"), "a backslash is one of"),
    (("--until", "x"), "--until is for"),
    (("--dialect", "http", "--host", "a b"), "--host must be NAME"),
    (("--host", "localhost"), "--host is for --dialect http"),
    (("--dialect", "http", "--requests", "FILE"), "line 2: its first line is not METHOD PATH"),
    (("--requests", "FOLDER"), "not a regular file"),
    (("--requests", "FOLDER/none"), "No such file"),
    (("--requests", "FILE", "--path", "/x", "--dialect", "http"), "exclude each other"),
    (("--requests", "FILE", "-n", "3"), "exclude each other"),
    (("--requests", "FILE", "--request", "x"), "exclude each other"),
]


@pytest.mark.parametrize(("options", "words"), WRONG)
def test_what_cannot_be_asked_is_refused_in_one_line(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    file = tmp_path / "wrong"
    file.write_text("1 GET / HTTP/1.1\\r\\n\\r\\n\n1 GET /\\r\\n\\r\\n\n")
    named = {"FILE": str(file), "FOLDER": str(tmp_path), "FOLDER/none": str(tmp_path / "none")}
    assert words in refusal(*(named.get(option, option) for option in options))


def test_a_line_of_several_words_is_sent_as_it_is() -> None:
    seen: list[bytes] = []
    with serving(answering(b"one\n\n", seen)) as server:
        done = client("--request", "GET the top, please", "--quiet", server.address)
    assert (done.returncode, seen) == (0, [b"GET the top, please\n"])
