"""--requests and --until: requests of a file, and replies of protocols that the client lacks."""

import re
import shutil
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.scripted_servers import Handler, errors, outcome, refusal, result_of, serving
from tests.sockets import free_port
from tests.waiting import wait_until

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
PONG = ("--request", r"PING\r\n", "--until", r"^\+PONG\r\n")


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


def serve_mix(seen: list[bytes]) -> Handler:
    def handler(connection: socket.socket, _number: int) -> None:
        while request := read_whole(connection):
            seen.append(request)
            connection.sendall(REPLIES[request.split(b" ", 1)[0]])

    return handler


@pytest.fixture
def mix(tmp_path: Path) -> Path:
    file = tmp_path / "mix"
    file.write_text(FILE)
    return file


@pytest.mark.parametrize("load", ["--rounds 4", "--load closed --duration 0.3 --per-connection 6"])
def test_requests_are_sent_in_proportion(engine: str, mix: Path, load: str) -> None:
    seen: list[bytes] = []
    with serving(serve_mix(seen)) as server:
        result, status = result_of(server, f"--requests {mix} -c 3 {load}", engine, "http")
    assert (status, result["errors"]) == (0, errors())
    counts = Counter(request.split(b" ", 1)[0] for request in seen)
    turns = len(seen) / 6
    assert abs(counts[b"GET"] - 3 * turns) <= 3
    assert all(abs(counts[method] - turns) <= 3 for method in (b"POST", b"HEAD", b"DELETE"))


def test_the_client_adds_what_depends_on_the_load(mix: Path) -> None:
    seen: list[bytes] = []
    with serving(serve_mix(seen)) as server:
        result_of(server, f"--requests {mix} --rounds 6", dialect="http")
        host = server.address.encode()
    whole = {request.split(b" ", 1)[0]: request for request in seen}
    close = b"Connection: close\r\n"
    assert whole[b"GET"] == b"GET /a HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (host, close)
    assert whole[b"HEAD"] == b"HEAD /a HTTP/1.1\r\n%sHost: other\r\n\r\n" % close
    assert whole[b"POST"] == (
        b"POST /items HTTP/1.1\r\nHost: %s\r\n%sContent-Length: 4\r\n"
        b"Content-Type: text/plain\r\n\r\nh\xc3\xa4\0" % (host, close)
    )


def test_the_host_is_the_one_that_is_given_unless_a_request_names_its_own(mix: Path) -> None:
    seen: list[bytes] = []
    with serving(serve_mix(seen)) as server:
        result_of(server, f"--requests {mix} --rounds 6 --host localhost:80", dialect="http")
    hosts = {request.split(b" ", 1)[0]: re.findall(rb"Host: (\S+)", request) for request in seen}
    assert hosts[b"GET"] == hosts[b"POST"] == [b"localhost:80"]
    assert hosts[b"HEAD"] == [b"other"]


@pytest.mark.parametrize("host", ["", "a b", "a\r\nX: y", "a" * 97])
def test_a_wrong_host_is_refused_in_one_line(host: str) -> None:
    assert "--host must be NAME" in refusal("--dialect", "http", "--host", host)


def test_a_host_is_only_for_http() -> None:
    assert "--host is for --dialect http" in refusal("--host", "localhost")


def test_the_order_is_the_same_every_time(mix: Path) -> None:
    orders = []
    for _ in range(2):
        seen: list[bytes] = []
        with serving(serve_mix(seen)) as server:
            result_of(server, f"--requests {mix} --rounds 9", dialect="http")
        orders.append([request.split(b" ", 1)[0] for request in seen])
    assert orders[0] == orders[1]
    assert orders[0][:6] == [b"GET", b"POST", b"GET", b"HEAD", b"DELETE", b"GET"]


def test_a_wrong_file_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong"
    file.write_text("1 GET / HTTP/1.1\\r\\n\\r\\n\n1 GET /\\r\\n\\r\\n\n")
    said = refusal("--dialect", "http", "--requests", str(file))
    assert "line 2: its first line is not METHOD PATH HTTP/1.1" in said
    assert "not a regular file" in refusal("--requests", str(tmp_path))
    assert "No such file" in refusal("--requests", str(tmp_path / "none"))
    for options in (("--path", "/x", "--dialect", "http"), ("-n", "3"), ("--request", "x")):
        assert "exclude each other" in refusal("--requests", str(file), *options)


def test_a_wrong_pattern_is_refused_in_one_line() -> None:
    assert "leave out $" in refusal("--request", "x", "--until", "a$")
    assert r"\d" in refusal("--request", "x", "--until", r"\d")
    assert "--until is for" in refusal("--until", "x")
    assert "a backslash is one of" in refusal("--request", r"\q", "--until", "x")


REPLY = b"$5\r\na\0b\r\n\r\n+PONG\r\n"


def in_pieces(first: int) -> Handler:
    """Answers PING in two pieces, the second when the first is on its way."""

    def handler(connection: socket.socket, _number: int) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while request := connection.recv(4096):
            assert request == b"PING\r\n"
            for piece in (REPLY[:first], REPLY[first:]):
                connection.sendall(piece)

    return handler


@pytest.mark.parametrize("first", range(len(REPLY)))
def test_a_reply_ends_at_the_pattern_however_it_is_split(engine: str, first: int) -> None:
    load = f"{' '.join(PONG)} -c 2 --load closed --duration 0.05"
    with serving(in_pieces(first)) as server:
        result, status = result_of(server, load, engine)
    assert (status, result["errors"]) == (0, errors())
    assert result["connections_opened"] == 2
    assert result["bytes_received"] == result["answered"] * len(REPLY)


def answering(reply: bytes) -> Handler:
    def handler(connection: socket.socket, _number: int) -> None:
        connection.recv(4096)
        connection.sendall(reply)

    return handler


@pytest.mark.parametrize(
    ("reply", "kind"), [(b"+PONG\r\n+PONG\r\n", "malformed"), (b"-ERR\r\n", "closed")], ids=repr
)
def test_a_reply_that_goes_on_or_never_matches_is_an_error(
    engine: str, reply: bytes, kind: str
) -> None:
    assert outcome(answering(reply), " ".join(PONG), engine) == (1, errors(**{kind: 1}))


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    port = free_port()
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, "--port", str(port), "--save", "", "--dir", str(tmp_path)], stdout=output
        )

    def listens() -> bool:
        assert process.poll() is None, log.read_text()
        with socket.socket() as asked:
            return asked.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_until(listens, log.read_text)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def test_redis_is_loaded(redis: str, tmp_path: Path) -> None:
    file = tmp_path / "redis"
    file.write_text("3 GET a\\r\\n\n1 SET a \\x41\\x42C\\r\\n\n")
    pattern = r"^(\$-1|\+OK|\$3\r\nABC)\r\n"
    load = f"--requests {file} --until {pattern} -c 5 --load closed --duration 0.3"
    result, status = result_of(redis, load)
    assert (status, result["errors"]) == (0, errors())
    assert result["answered"] > 100
