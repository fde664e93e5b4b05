"""Who may ask: by address and by token, in every design and both dialects."""

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.dialects import HTTP, LINE, Dialect
from tests.http_replies import Reply, parse_replies
from tests.metrics import samples_of
from tests.servers import (
    PATIENCE_S,
    ListedDesign,
    RunningServer,
    Start,
    ask_over,
    read_all,
    rows_of,
    running,
)
from tests.waiting import wait_until

TOKEN = "correct-horse-battery-staple"
GET = "GET /top?n=2 HTTP/1.1\r\nHost: x\r\n%s\r\n"


def token_file(folder: Path) -> Path:
    path = folder / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module")
def asking(
    design: ListedDesign, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server that asks for a token, shared by the tests of this file."""
    folder = tmp_path_factory.mktemp(f"token-{design.name}")
    options = ("--work", "snapshot", "--token-file", str(token_file(folder)))
    with running(folder, "--design", design.name, *options) as started:
        yield started


def get(token: str | None) -> bytes:
    return (GET % (f"Authorization: Bearer {token}\r\n" if token else "")).encode()


def only_reply(received: bytes) -> Reply:
    (reply,) = parse_replies(received)
    return reply


def test_http_with_the_token_is_answered_and_each_request_is_asked_for_it(
    asking: RunningServer,
) -> None:
    first, second, third = parse_replies(asking.ask(get(TOKEN) + get(None) + get(TOKEN)))
    assert [first.status, second.status, third.status] == [200, 401, 200]
    assert second.body.count(b"\n") == 1
    assert b"rank" not in second.body
    assert len(rows_of(first.body + b"\n")) == 2


def test_a_connection_is_good_for_one_wrong_token(asking: RunningServer) -> None:
    """In lines as well: below."""
    with asking.connect() as connection:
        connection.sendall(get(f"{TOKEN}x") + get(TOKEN))
        assert only_reply(read_all(connection)).status == 401  # it ends although we have not


def test_the_metrics_are_asked_for_with_the_token_too(asking: RunningServer) -> None:
    page = get(TOKEN).replace(b"/top?n=2", b"/metrics")
    denied = only_reply(asking.ask(get(None).replace(b"/top?n=2", b"/metrics")))
    assert (denied.status, b"regatta_" in denied.body) == (401, False)
    assert b"regatta_" in only_reply(asking.ask(page)).body


def test_in_lines_the_token_is_said_once(asking: RunningServer) -> None:
    with asking.connect() as connection:
        assert ask_over(connection, f"auth {TOKEN}\n".encode()) == b"ok\n\n"
        for _ in range(3):
            assert len(rows_of(ask_over(connection))) == 2


@pytest.mark.parametrize("said", ["top 2\n", f"auth {TOKEN}x\ntop 2\n", "auth \ntop\n"])
def test_in_lines_without_it_the_answer_is_an_error_and_the_end(
    asking: RunningServer, said: str
) -> None:
    with asking.connect() as connection:
        connection.sendall(said.encode())
        answer = read_all(connection)  # it ends although we have not
    assert answer.startswith(b"error: ")
    assert answer.count(b"\n\n") == 1
    assert b"rank" not in answer


def test_the_token_is_asked_of_each_connection(asking: RunningServer) -> None:
    """That somebody said it is nothing to whoever comes next, perhaps in the same memory."""
    for _ in range(8):
        assert asking.ask(f"auth {TOKEN}\n".encode()) == b"ok\n\n"
        assert asking.ask(b"top 2\n").startswith(b"error: ")


def test_denials_are_counted(start: Start, tmp_path: Path) -> None:
    server = start("--work", "snapshot", "--token-file", str(token_file(tmp_path)))
    server.ask(b"top 2\n")
    server.ask(b"auth wrong\n")
    server.ask(get(None) + get(TOKEN))
    summary = server.stop()
    assert summary["errors"].pop("denied") == 3
    assert sum(summary["errors"].values()) == 0
    assert summary["requests"] == 4
    assert TOKEN not in json.dumps(summary)


GUESSER = "127.0.0.99"
FREE_GUESSES = 10
"""Of an address at once; then one a second."""


def guess_until_refused(server: RunningServer, guess: bytes) -> tuple[int, Reply]:
    """How many wrong tokens were answered, and what is then said."""
    for answered in range(1000):
        answer = ask_from(GUESSER, server, guess)
        if not answer.startswith((b"error: this is not the token", b"HTTP/1.1 401 ")):
            return answered, only_reply(answer)
    pytest.fail("a thousand guesses were answered")


@pytest.mark.parametrize("guess", [b"auth guessed\n", get("guessed")], ids=["line", "http"])
def test_who_guesses_the_token_is_refused_before_others_are(
    start: Start, tmp_path: Path, guess: bytes
) -> None:
    """For a second for each guess too many; and the guesses are counted."""
    server = start("--work", "snapshot", "--token-file", str(token_file(tmp_path)))
    began = time.monotonic()
    answered, refusal = guess_until_refused(server, guess)
    assert FREE_GUESSES < answered <= FREE_GUESSES + 2 + (time.monotonic() - began)
    assert refusal.status == 429
    assert refusal.body.startswith(b"error: too many wrong tokens")
    assert only_reply(server.ask(get(TOKEN))).status == 200
    page = server.ask(get(TOKEN).replace(b"/top?n=2", b"/metrics"))
    (count,) = samples_of(only_reply(page))["regatta_wrong_tokens_total"].values()
    assert count == answered
    wait_until(
        lambda: only_reply(ask_from(GUESSER, server, get(TOKEN))).status == 200,
        "it is refused for good",
    )


def test_who_is_refused_keeps_the_connection_that_it_has(
    start: Start, design: ListedDesign, tmp_path: Path
) -> None:
    """As a scraper does that knows the token, behind the same address."""
    if design.serves == "one":
        pytest.skip("it serves one client at a time")
    options = ("--work", "snapshot", "--token-file", str(token_file(tmp_path)))
    server = start(*options, *design.serving(2))
    with socket.create_connection(
        (server.host, server.port), PATIENCE_S, source_address=(GUESSER, 0)
    ) as known:
        assert ask_over(known, f"auth {TOKEN}\n".encode()) == b"ok\n\n"
        guess_until_refused(server, b"auth guessed\n")
        assert len(rows_of(ask_over(known))) == 2


def ask_from(address: str, server: RunningServer, request: bytes, host: str | None = None) -> bytes:
    """What a client with this address is answered, however soon its connection is closed."""
    received = bytearray()
    with socket.create_connection(
        (host or server.host, server.port), PATIENCE_S, source_address=(address, 0)
    ) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            while piece := connection.recv(65536):
                received += piece
    return bytes(received)


@pytest.mark.parametrize("request_of", [HTTP, LINE], ids=lambda dialect: dialect.name)
def test_from_another_address_nothing_is_answered(start: Start, request_of: Dialect) -> None:
    server = start("--work", "snapshot", "--allow", "192.0.2.0/24,127.0.0.1")
    for _ in range(3):
        reply = only_reply(ask_from("127.0.0.2", server, request_of.request(2)))
        assert reply.status == 403
        assert reply.body.startswith(b"error: ")
        assert reply.body.endswith(b"\n\n")
        assert len(request_of.answers(server.ask(request_of.request(2)))) == 1
    summary = server.stop()
    assert summary["errors"]["denied"] == 3
    assert summary["requests"] == 3
    assert summary["connections"] == 6


def test_ipv4_clients_of_an_ipv6_socket_are_known_by_their_ipv4_address(start: Start) -> None:
    server = start("--work", "snapshot", "--allow", "127.0.0.1", "--no-token", listen="[::]:0")
    assert ask_from("127.0.0.1", server, b"top 2\n", "127.0.0.1").startswith(b"rank ")
    assert ask_from("127.0.0.2", server, b"top 2\n", "127.0.0.1").startswith(b"HTTP/1.1 403 ")
    assert ask_from("::1", server, b"top 2\n", "::1").startswith(b"HTTP/1.1 403 ")


def test_a_crowd_that_may_not_ask_keeps_nobody_waiting(start: Start) -> None:
    """They come all at once, in front of the one that may."""
    server = start("--work", "snapshot", "--allow", "127.0.0.1")
    with ExitStack() as stack:
        crowd = [
            stack.enter_context(
                socket.create_connection(
                    (server.host, server.port), PATIENCE_S, source_address=("127.0.0.2", 0)
                )
            )
            for _ in range(300)
        ]
        assert len(rows_of(server.ask(b"top 2\n"))) == 2
        assert all(read_all(each).startswith(b"HTTP/1.1 403 ") for each in crowd)
    assert server.stop()["errors"]["denied"] == 300
