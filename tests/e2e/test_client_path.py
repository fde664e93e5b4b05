"""--path: requests for any path of any HTTP server."""

import http.server
import socket
import threading
from collections.abc import Iterator

import pytest

from tests.e2e.scripted_servers import (
    always,
    errors,
    once,
    open_load,
    outcome,
    read_request,
    result_of,
    serving,
    shown_by,
)
from tests.e2e.scripted_servers import http as whole

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
OPEN_END = HEAD + b"Content-Type: text/plain\r\n\r\nhello world"
ASK = "--path /some/where?x=%20y"


@pytest.mark.parametrize("reply", [whole(b"hello world"), whole(b""), CHUNKED], ids=repr)
def test_a_reply_with_a_known_end_keeps_the_connection(engine: str, reply: bytes) -> None:
    with serving(always(reply)) as server:
        result, status = result_of(
            server, f"{ASK} -c 3 --load closed --duration 0.2", engine, "http"
        )
    assert (status, result["errors"]) == (0, errors())
    assert result["connections_opened"] == 3
    assert result["bytes_received"] == result["answered"] * len(reply)


@pytest.mark.parametrize("load", ["burst", "closed"])
def test_a_reply_may_end_with_its_connection(engine: str, load: str) -> None:
    more = "--duration 0.2" if load == "closed" else "--rounds 5"
    with serving(once(OPEN_END)) as server:
        result, status = result_of(server, f"{ASK} -c 3 --load {load} {more}", engine, "http")
    assert (status, result["errors"]) == (0, errors())
    assert result["answered"] == result["connections_opened"] > 5
    assert result["bytes_received"] == result["answered"] * len(OPEN_END)


def test_an_open_load_accepts_such_replies_too() -> None:
    with serving(once(OPEN_END)) as server:
        result, status = result_of(server, f"{ASK} -c 3 {open_load(100, 0.3)}", dialect="http")
    # A busy machine may not start the last requests.
    assert (status, result["answered"]) == (0, 30 - result["unstarted"])
    assert result["connections_opened"] >= result["answered"] > 0


@pytest.mark.parametrize("reply", [CHUNKED[:-2], CHUNKED[:40], whole(b"hello")[:-1]], ids=repr)
def test_a_reply_that_is_cut_off_is_closed(engine: str, reply: bytes) -> None:
    assert outcome(once(reply), f"{ASK} -c 3", engine, "http") == (1, errors(closed=3))


def test_another_status_is_refused(engine: str) -> None:
    handler = always(whole(b"", status=b"404 Not Found"))
    assert outcome(handler, f"{ASK} -c 3", engine, "http") == (1, errors(refused=3))


def test_the_path_is_sent_unchanged(engine: str) -> None:
    requests: list[bytes] = []
    with serving(always(whole(b"ok"), seen=requests)) as server:
        result_of(server, ASK, engine, "http")
    assert requests[0].startswith(b"GET /some/where?x=%20y HTTP/1.1\r\nHost: ")


def test_without_a_path_the_reply_format_is_checked(engine: str) -> None:
    assert outcome(always(CHUNKED), "", engine, "http") == (1, errors(malformed=1))


def test_slow_connections_use_the_path_too() -> None:
    requests: list[bytes] = []

    def handler(connection: socket.socket, number: int) -> None:
        while request := read_request(connection):
            if number == 0:
                requests.append(request)
            connection.sendall(whole(b"ok"))

    with serving(handler) as server:
        result, _ = result_of(
            server, "--path /a --slow 1 --load closed --duration 4", dialect="http"
        )
    assert result["slow_requests"] >= 1
    assert requests[0].startswith(b"GET /a HTTP/1.1\r\n")


def test_the_body_is_printed_with_escaped_control_characters(engine: str) -> None:
    with serving(always(whole(b"one\n\x1b[2Jtwo\n\xff"))) as server:
        shown = shown_by(*("--engine", engine, "--dialect", "http", *ASK.split()), server.address)
    assert "\n  one\n  \\x1b[2Jtwo\n  \\xff\n" in shown


@pytest.fixture
def foreign() -> Iterator[str]:
    """Python's HTTP server, which closes after each reply."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), type("Quiet", (http.server.SimpleHTTPRequestHandler,), QUIET)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


QUIET = {"log_message": lambda *_: None}


def test_another_http_server_can_be_measured(engine: str, foreign: str) -> None:
    result, status = result_of(foreign, "--path / -c 4", engine, "http")
    assert (status, result["answered"]) == (0, 4)
