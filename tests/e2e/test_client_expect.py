"""--expect: replies are compared with what they were before the load."""

import socket
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.scripted_servers import (
    Handler,
    client,
    errors,
    http,
    once,
    read_request,
    refusal,
    result_of,
    serving,
)

BODY = b"hello " * 500
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (
    len(BODY),
    BODY,
)
TO_END = b"HTTP/1.1 200 OK\r\n\r\n" + BODY
CLOSED = "--load closed --duration 0.2"


def line(body: bytes = BODY, status: int = 200, varying: str = "") -> str:
    return f"{status} {len(body)} {len(body)} {zlib.crc32(body):08x}{varying}\n"


@pytest.fixture
def expect(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        file = tmp_path / "expected"
        file.write_text(text)
        return f"--expect {file}"

    return write


def numbered(reply: Callable[[int], bytes]) -> Handler:
    """Answers each request by its number on its connection, in two pieces."""

    def handler(connection: socket.socket, _number: int) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        count = 0
        while read_request(connection):
            whole = reply(count)
            connection.sendall(whole[:500])
            connection.sendall(whole[500:])
            count += 1

    return handler


CHANGED = {
    "answered 500 instead of 200": http(BODY, status=b"500 Internal Server Error"),
    "answered 1 byte instead of 3,000": http(b"!"),
    "answered 2,999 bytes instead of 3,000": TO_END[:-1],
    "answered other bytes than before the race": CHUNKED.replace(b"hello", b"jello"),
}


@pytest.mark.parametrize(("says", "reply"), CHANGED.items(), ids=CHANGED.keys())
def test_a_changed_reply_is_a_failed_request(
    engine: str, expect: Callable[[str], str], says: str, reply: bytes
) -> None:
    options = ("--path", "/", *expect(line()).split(), "--dialect", "http", "--engine", engine)
    with serving(once(reply)) as server:
        result, status = result_of(server, f"--path / {expect(line())} -c 3", engine, "http")
        said = client(*options, "--quiet", server.address).stderr
    assert (status, result["errors"]) == (1, errors(changed=3))
    assert f"for example changed: {says}; " in said


def test_a_server_that_changes_while_it_is_raced_is_found(
    engine: str, expect: Callable[[str], str]
) -> None:
    """The length tells at once, other bytes of the same length within 64 replies."""
    for cheap, most in ((http(b"!"), 1), (http(BODY.upper()), 64)):
        reply = numbered(lambda n, cheap=cheap: http(BODY) if n < 50 else cheap)
        with serving(reply) as server:
            options = f"--path / {expect(line())} --load closed --duration 0.3"
            result, status = result_of(server, options, engine, "http")
        assert status == 1
        assert result["errors"] == errors(changed=result["errors"]["changed"])
        connections = result["connections_opened"]
        assert 50 <= result["answered"] <= connections * (50 + most)


def test_each_request_of_a_list_has_its_own_reply(
    engine: str, expect: Callable[[str], str], tmp_path: Path
) -> None:
    replies = {
        b"/a": http(BODY),
        b"/b": http(b"", status=b"303 See Other"),
        b"/c": b"HTTP/1.1 204 No Content\r\n\r\n",
        b"/d": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",  # to HEAD
    }

    def handler(connection: socket.socket, _number: int) -> None:
        while request := read_request(connection):
            connection.sendall(replies[request.split(b" ")[1]])

    requests = tmp_path / "requests"
    asked = ("3 GET /a", "1:404 GET /b", "2 GET /c", "1 HEAD /d")
    requests.write_text("".join(f"{text} HTTP/1.1\\r\\n\\r\\n\n" for text in asked))
    options = f"--requests {requests} {CLOSED}"
    right = [line(), line(b"", 303), line(b"", 204), line(b"")]
    with serving(handler) as server:
        result, status = result_of(server, f"{options} {expect(''.join(right))}", engine, "http")
        assert (status, result["errors"]) == (0, errors())
        wrong = f"{options} {expect(''.join(right[1:] + right[:1]))}"
        result, status = result_of(server, wrong, engine, "http")
    assert (status, result["answered"]) == (1, 0)
    assert result["errors"] == errors(changed=result["requests"])


def test_a_wrong_file_or_use_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "expected"
    file.write_text("200 1 1 -\n200 1 x\n")
    how = ("--dialect", "http", "--path", "/", "--expect")
    assert "line 2: behind the status" in refusal(*how, str(file))
    file.write_text("200 1 1 -\n200 1 1 -\n")
    assert "2 lines for 1 requests" in refusal(*how, str(file))
    assert "not a regular file" in refusal(*how, str(tmp_path))
    assert "No such file" in refusal(*how, str(tmp_path / "none"))
    for options in (["--dialect", "http"], ["--request", "x"], ["--dialect", "http", "-n", "3"]):
        assert "--expect is for" in refusal(*options, "--expect", str(file))
