"""--path: asking any HTTP server for anything."""

import http.server
import socket
import threading
from collections.abc import Iterator

import pytest

from tests.e2e.scripted import Handler, errors, read_request, result_of, serving, shown_by
from tests.e2e.scripted import http as whole

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
OPEN_END = HEAD + b"Content-Type: text/plain\r\n\r\nhello world"


def replying(reply: bytes, *, stays: bool) -> Handler:
    def handler(connection: socket.socket, _number: int) -> None:
        while read_request(connection):
            connection.sendall(reply)
            if not stays:
                return

    return handler


def ask(engine: str, *more: str) -> list[str]:
    return ["--engine", engine, "--dialect", "http", "--path", "/some/where?x=%20y", *more]


@pytest.mark.parametrize("reply", [whole(b"hello world"), whole(b""), CHUNKED], ids=repr)
def test_a_reply_that_says_its_end_keeps_the_connection(engine: str, reply: bytes) -> None:
    with serving(replying(reply, stays=True)) as server:
        result, status = result_of(
            *ask(engine, "-c", "3", "--load", "closed", "--duration", "0.2"), server.address
        )
    assert (status, result["errors"]) == (0, errors())
    assert result["connections_opened"] == 3
    assert result["bytes_received"] == result["answered"] * len(reply)


@pytest.mark.parametrize("load", ["burst", "closed"])
def test_a_reply_may_end_with_its_connection(engine: str, load: str) -> None:
    more = ["--duration", "0.2"] if load == "closed" else ["--rounds", "5"]
    with serving(replying(OPEN_END, stays=False)) as server:
        result, status = result_of(*ask(engine, "-c", "3", "--load", load, *more), server.address)
    assert (status, result["errors"]) == (0, errors())
    assert result["answered"] == result["connections_opened"] > 5
    assert result["bytes_received"] == result["answered"] * len(OPEN_END)


def test_an_open_load_takes_such_replies_too() -> None:
    options = ["--load", "open", "--rate", "100", "--duration", "0.3"]
    with serving(replying(OPEN_END, stays=False)) as server:
        result, status = result_of(*ask("epoll", "-c", "3", *options), server.address)
    # A busy machine may not come to the last of them; then it says so.
    assert (status, result["answered"]) == (0, 30 - result["unstarted"])
    assert result["connections_opened"] >= result["answered"] > 0


@pytest.mark.parametrize("reply", [CHUNKED[:-2], CHUNKED[:40], whole(b"hello")[:-1]], ids=repr)
def test_a_reply_that_is_cut_off_is_closed(engine: str, reply: bytes) -> None:
    with serving(replying(reply, stays=False)) as server:
        result, status = result_of(*ask(engine, "-c", "3"), server.address)
    assert (status, result["errors"]) == (1, errors(closed=3))


def test_another_status_is_refused(engine: str) -> None:
    with serving(replying(whole(b"", status=b"404 Not Found"), stays=True)) as server:
        result, status = result_of(*ask(engine, "-c", "3"), server.address)
    assert (status, result["errors"]) == (1, errors(refused=3))


def test_the_path_is_asked_for_as_it_is_given(engine: str) -> None:
    requests: list[bytes] = []

    def handler(connection: socket.socket, _number: int) -> None:
        requests.append(read_request(connection))
        connection.sendall(whole(b"ok"))

    with serving(handler) as server:
        result_of(*ask(engine), server.address)
    assert requests[0].startswith(b"GET /some/where?x=%20y HTTP/1.1\r\nHost: ")


def test_without_a_path_the_form_is_checked(engine: str) -> None:
    with serving(replying(CHUNKED, stays=True)) as server:
        result, status = result_of("--engine", engine, "--dialect", "http", server.address)
    assert (status, result["errors"]) == (1, errors(malformed=1))


def test_slow_connections_ask_for_the_path_too() -> None:
    requests: list[bytes] = []

    def handler(connection: socket.socket, number: int) -> None:
        while request := read_request(connection):
            if number == 0:
                requests.append(request)
            connection.sendall(whole(b"ok"))

    with serving(handler) as server:
        result, _ = result_of(
            *("--dialect", "http", "--path", "/a", "--slow", "1"),
            *("--load", "closed", "--duration", "1.5"),
            server.address,
        )
    assert result["slow_requests"] >= 1
    assert requests[0].startswith(b"GET /a HTTP/1.1\r\n")


def test_a_person_sees_the_body_and_no_control_byte_of_it(engine: str) -> None:
    with serving(replying(whole(b"one\n\x1b[2Jtwo\n\xff"), stays=True)) as server:
        shown = shown_by(*ask(engine), server.address)
    assert "\n  one\n  \\x1b[2Jtwo\n  \\xff\n" in shown


@pytest.fixture
def foreign() -> Iterator[str]:
    """The HTTP server of Python's library, which closes after each reply."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), type("Quiet", (http.server.SimpleHTTPRequestHandler,), QUIET)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


QUIET = {"log_message": lambda *_: None}


def test_a_server_that_is_not_ours_can_be_asked(engine: str, foreign: str) -> None:
    result, status = result_of(
        *("--engine", engine, "--dialect", "http", "--path", "/", "-c", "4"), foreign
    )
    assert (status, result["answered"]) == (0, 4)
