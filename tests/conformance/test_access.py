"""Access by address, by token and by the host that HTTP asks for, in every design."""

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dialects import DIALECTS
from tests.http_replies import only_reply, parse_replies
from tests.metrics import samples_of
from tests.servers import (
    ListedDesign,
    RunningServer,
    Start,
    ask_over,
    read_all,
    read_until_lost,
    rows_of,
    running,
)
from tests.tokens import TOKEN, token_file
from tests.waiting import wait_until

GET = "GET /top?n=2 HTTP/1.1\r\nHost: x\r\n%s\r\n"


def with_token(folder: Path) -> tuple[str, ...]:
    return ("--work", "snapshot", "--token-file", str(token_file(folder)))


@pytest.fixture(scope="module")
def protected(
    design: ListedDesign, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server that requires the token, shared by the tests of this file."""
    folder = tmp_path_factory.mktemp(f"token-{design.name}")
    with running(folder, "--design", design.name, *with_token(folder)) as started:
        yield started


def get(token: str | None, path: str = "/top?n=2") -> bytes:
    header = f"Authorization: Bearer {token}\r\n" if token else ""
    return (GET % header).replace("/top?n=2", path).encode()


def test_every_http_request_needs_the_token(
    protected: RunningServer,
) -> None:
    first, second, third = parse_replies(protected.ask(get(TOKEN) + get(None) + get(TOKEN)))
    assert [first.status, second.status, third.status] == [200, 401, 200]
    assert second.body.count(b"\n") == 1
    assert b"rank" not in second.body
    assert len(rows_of(first.body + b"\n")) == 2


def test_a_wrong_token_closes_the_connection(protected: RunningServer) -> None:
    with protected.connect() as connection:
        connection.sendall(get(f"{TOKEN}x") + get(TOKEN))
        assert only_reply(read_all(connection)).status == 401  # the server closes first


def test_the_metrics_need_the_token_too(protected: RunningServer) -> None:
    denied = only_reply(protected.ask(get(None, "/metrics")))
    assert (denied.status, b"regatta_" in denied.body) == (401, False)
    assert b"regatta_" in only_reply(protected.ask(get(TOKEN, "/metrics"))).body


def test_a_line_client_sends_the_token_once(protected: RunningServer) -> None:
    with protected.connect() as connection:
        assert ask_over(connection, f"auth {TOKEN}\n".encode()) == b"ok\n\n"
        for _ in range(3):
            assert len(rows_of(ask_over(connection))) == 2


@pytest.mark.parametrize("said", ["top 2\n", f"auth {TOKEN}x\ntop 2\n", "auth \ntop\n"])
def test_a_line_client_without_the_token_gets_an_error_and_is_closed(
    protected: RunningServer, said: str
) -> None:
    with protected.connect() as connection:
        connection.sendall(said.encode())
        answer = read_all(connection)  # the server closes first
    assert answer.startswith(b"error: ")
    assert answer.count(b"\n\n") == 1
    assert b"rank" not in answer


def test_every_connection_needs_the_token(protected: RunningServer) -> None:
    """The next client, perhaps in the same memory, does not inherit it."""
    for _ in range(8):
        assert protected.ask(f"auth {TOKEN}\n".encode()) == b"ok\n\n"
        assert protected.ask(b"top 2\n").startswith(b"error: ")


GUESSER = "127.0.0.99"
FREE_GUESSES = 10
"""Burst per address; after it, one guess a second."""


def test_an_address_that_guesses_tokens_is_refused_and_no_other(
    start: Start, design: ListedDesign, tmp_path: Path
) -> None:
    """For one second per surplus guess. The guesses are counted, and the address keeps the
    connections that have sent the token, such as those of a scraper behind the same NAT."""
    shares = design.serves != "one"
    server = start(*with_token(tmp_path), *(design.serving(2) if shares else ()))
    with contextlib.ExitStack() as stack:
        if shares:
            known = stack.enter_context(server.connect(source=GUESSER))
            assert ask_over(known, f"auth {TOKEN}\n".encode()) == b"ok\n\n"
        began = time.monotonic()
        answers = [ask_from(server, GUESSER, b"auth guessed\n")]
        while answers[-1].startswith(b"error: wrong token"):
            answers.append(ask_from(server, GUESSER, b"auth guessed\n"))
        answered = len(answers) - 1
        assert FREE_GUESSES < answered <= FREE_GUESSES + 2 + (time.monotonic() - began)
        refusal = only_reply(answers[-1])
        assert refusal.status == 429
        assert refusal.body.startswith(b"error: too many wrong tokens")
        if shares:
            assert len(rows_of(ask_over(known))) == 2
    page = only_reply(server.ask(get(TOKEN, "/metrics")))
    (count,) = samples_of(page)["regatta_wrong_tokens_total"].values()
    assert count == answered
    wait_until(
        lambda: only_reply(ask_from(server, GUESSER, get(TOKEN))).status == 200,
        "the refusal does not end",
    )
    summary = server.stop()
    assert summary["errors"]["denied"] >= answered
    assert TOKEN not in json.dumps(summary)


def ask_from(server: RunningServer, source: str, request: bytes, host: str | None = None) -> bytes:
    """The reply to a client with this address, even if the server closes before it has read."""
    with server.connect(source=source, host=host) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        return read_until_lost(connection)


def test_clients_outside_the_allowed_networks_get_403(start: Start) -> None:
    server = start("--work", "snapshot", "--allow", "192.0.2.0/24,127.0.0.1")
    for dialect in DIALECTS:
        reply = only_reply(ask_from(server, "127.0.0.2", dialect.request(2)))
        assert reply.status == 403
        assert reply.body.startswith(b"error: ")
        assert reply.body.endswith(b"\n\n")
        assert len(dialect.answers(server.ask(dialect.request(2)))) == 1
    summary = server.stop()
    assert summary["errors"]["denied"] == 2
    assert (summary["requests"], summary["connections"]) == (2, 4)


def test_an_ipv6_socket_knows_ipv4_clients_by_their_ipv4_address(start: Start) -> None:
    """It listens on all addresses of both families."""
    server = start("--work", "snapshot", "--allow", "127.0.0.1", "--no-token", listen="[::]:0")
    for source, host, reply in (
        ("127.0.0.1", "127.0.0.1", b"rank "),
        ("127.0.0.2", "127.0.0.1", b"HTTP/1.1 403 "),
        ("::1", "::1", b"HTTP/1.1 403 "),
    ):
        assert ask_from(server, source, b"top 2\n", host).startswith(reply)


def test_300_denied_clients_do_not_delay_an_allowed_one(start: Start) -> None:
    server = start("--work", "snapshot", "--allow", "127.0.0.1")
    with contextlib.ExitStack() as stack:
        denied = [stack.enter_context(server.connect(source="127.0.0.2")) for _ in range(300)]
        assert len(rows_of(server.ask(b"top 2\n"))) == 2
        assert all(read_all(each).startswith(b"HTTP/1.1 403 ") for each in denied)
    assert server.stop()["errors"]["denied"] == 300


# DNS rebinding: without a token only an address or a known name of the server is answered. Which
# names are known, and every form: tests/unit/exchange.
ASKED = (
    ("/top", "127.0.0.1:7342", "1.1", 200),
    ("/top", "metrics.EXAMPLE.:443", "1.1", 200),
    ("/top", socket.gethostname(), "1.1", 200),
    ("/top?command=1", "evil.example", "1.1", 421),
    ("/metrics", "localhost.evil.example", "1.1", 421),
    ("http://evil.example/top", "localhost", "1.1", 421),
    ("/healthz", "evil.example", "1.1", 200),
    ("/top", "evil.example", "1.0", 421),  # the last one, as it closes
)


def test_requests_for_another_host_are_refused(start: Start) -> None:
    """One line says what to do, the connection stays open, and each counts as denied."""
    server = start("--work", "snapshot", "--host", "metrics.example,DB1", "--host", "db2.")
    asked = [
        f"GET {target} HTTP/{version}\r\nHost: {host}\r\n\r\n" for target, host, version, _ in ASKED
    ]
    replies = parse_replies(server.ask("".join(asked).encode()))
    wanted = [status for *_, status in ASKED]
    assert [reply.status for reply in replies] == wanted
    for reply in replies:
        if reply.status == 421:
            assert reply.body.count(b"\n") == 1
            assert b"--host NAME" in reply.body
    summary = server.stop()
    assert summary["errors"].pop("denied") == wanted.count(421)
    assert sum(summary["errors"].values()) == 0
    assert summary["requests"] == len(ASKED)
