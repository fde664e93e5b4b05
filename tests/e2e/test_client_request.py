"""--request: any request line to any line-based server."""

import socket
from pathlib import Path

import pytest

from tests.e2e.scripted_servers import (
    Handler,
    client,
    errors,
    outcome,
    refusal,
    result_of,
    serving,
    shown_by,
)
from tests.servers import running

ASK = ("--request", "GET the top, please")
THREE = "--request top -c 3"
LOADS = pytest.mark.parametrize("load", ["", "--load closed --duration 0.2"])


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


def test_the_line_is_sent_unchanged(engine: str) -> None:
    seen: list[bytes] = []
    with serving(answering(b"one\n\n", seen)) as server:
        assert client(*ASK, "--engine", engine, "--quiet", server.address).returncode == 0
    assert seen == [b"GET the top, please\n"]


@LOADS
def test_a_reply_ends_with_an_empty_line(engine: str, load: str) -> None:
    assert outcome(answering(b"one\n two\n\n"), f"{THREE} {load}", engine) == (0, errors())


@LOADS
@pytest.mark.parametrize("reply", [b"one\ntwo\n", b"one\ntwo", b"one"], ids=repr)
def test_a_reply_may_end_with_its_connection(engine: str, load: str, reply: bytes) -> None:
    assert outcome(answering(reply, closes=True), f"{THREE} {load}", engine) == (0, errors())


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (b"error: not today\n\n", errors(refused=3)),
        (b"error: not today", errors(refused=3)),
        (b"HTTP/1.1 503 Service Unavailable\r\n\r\n", errors(refused=3)),
        (b"\n", errors(malformed=3)),
        (b"one\n\ntwo\n", errors(malformed=3)),
        (b"", errors(closed=3)),
    ],
    ids=repr,
)
def test_an_invalid_reply_is_an_error(engine: str, reply: bytes, found: dict[str, int]) -> None:
    assert outcome(answering(reply, closes=True), THREE, engine) == (1, found)


def test_our_own_server_answers_any_line(engine: str, tmp_path: Path) -> None:
    with running(tmp_path) as server:
        asked = ("--request", "top 3 threads=1", "--engine", engine)
        assert "rank pid" in shown_by(*asked, server.address)
        result, status = result_of(server, "--request nonsense", engine)
    assert (status, result["errors"]) == (1, errors(refused=1))


def test_control_characters_of_the_reply_are_escaped(engine: str) -> None:
    with serving(answering(b"one\n\x1b[2Jtwo\n\n")) as server:
        shown = shown_by(*ASK, "--engine", engine, server.address)
    assert "  \\x1b[2Jtwo\n" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("text", ["", "two\nlines", "\x1b[2J", "\x7f", "ü", "x" * 1025])
def test_an_invalid_line_is_refused(text: str) -> None:
    assert "--request must be a line" in refusal("--request", text)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--dialect", "http"), "--request is for --dialect line"),
        (("-n", "3"), "--request and --top exclude each other"),
    ],
)
def test_conflicting_options_are_refused(options: tuple[str, ...], words: str) -> None:
    assert words in refusal(*ASK, *options)


def test_a_last_line_without_an_end_is_shown(engine: str) -> None:
    with serving(answering(b"one\ntwo", closes=True)) as server:
        shown = shown_by(*ASK, "--engine", engine, server.address)
    assert "  one\n  two\n" in shown


def test_a_reply_that_is_too_long_to_show_is_cut_and_says_so(engine: str) -> None:
    long = b"".join(b"line %d\n" % number for number in range(20_000))
    with serving(answering(long, closes=True)) as server:
        shown = shown_by(*ASK, "--engine", engine, server.address)
    lines = shown.splitlines()
    cut = lines.index("  ... (cut)")
    numbers = [int(line.split()[1]) for line in lines[:cut] if line.startswith("  line ")]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 1000
