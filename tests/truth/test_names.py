"""Names that no parser expects, from the process to the reply."""

import contextlib
import json
import socket
from collections.abc import Iterator

import pytest

from tests.busiest import enough_ms
from tests.servers import RunningServer, rows_of, running
from tests.truth.programs import Life, Scanner, living, options_of
from tests.waiting import wait_until

HOSTILE = {
    "parenthesis": (b"a) R 1 (b", "a) R 1 (b"),
    "closing": (b") 0 0 0 0 0 0 0", ") 0 0 0 0 0 0 0"),
    "newline": (b"two\nlines", "two\\nlines"),
    "quotes": (b"q\"uo'te", "q\"uo'te"),
    "backslash": (b"back\\sl\\", "back\\\\sl\\\\"),
    "invalid": (b"\xff\xfe!\xc3", "\\xff\\xfe!\\xc3"),
    "control": (b"\x1b[2J\x01\x7f", "\\x1b[2J\\x01\\x7f"),
    "direction": ("\u202egnp.exe".encode(), "\\xe2\\x80\\xaegnp.exe"),
    "invisible": ("ng\u200binx".encode(), "ng\\xe2\\x80\\x8binx"),
    "formula": (b"=cmd|' /C'!A0", "=cmd|' /C'!A0"),
    "markup": (b"<b onclick=x>", "<b onclick=x>"),
    "longest": (b"123456789012345", "123456789012345"),
    "empty": (b"", ""),
}
"""Each with the form that replies give it: JSON's is that of text, quoted once more."""


def rename(it: Life, name: bytes) -> None:
    """Only a process itself may do so."""
    it.go_on(name.hex().encode())
    it.wait_until_ready()


@pytest.fixture(scope="module")
def named() -> Iterator[dict[str, int]]:
    """A process of each name; it has burnt enough to be among the busiest."""
    with contextlib.ExitStack() as stack:
        found = {}
        for case, (name, _) in HOSTILE.items():
            it = stack.enter_context(living("named", str(enough_ms())))
            rename(it, name)
            found[case] = it.pid
        yield found


@pytest.fixture(scope="module")
def server(scanner: Scanner, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Whose source is the one under test."""
    folder = tmp_path_factory.mktemp("names")
    options = ("--design", "epoll", *options_of(scanner.source))
    with running(folder, *options) as started:
        yield started


def ask_json(server: RunningServer) -> dict[int, str]:
    """The names in a JSON reply by pid; every byte of it must be UTF-8."""
    reply = server.ask(b"GET /top?n=64&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n")
    rows = json.loads(reply.partition(b"\r\n\r\n")[2].decode("utf-8"))["processes"]
    return {row["pid"]: row["name"] for row in rows}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_name_is_scanned_byte_for_byte(
    scanner: Scanner, named: dict[str, int], case: str
) -> None:
    assert scanner.scan().one(named[case]).name == HOSTILE[case][0]


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_name_is_escaped_in_text(
    server: RunningServer, named: dict[str, int], case: str
) -> None:
    rows = {row["pid"]: row["name"] for row in rows_of(server.ask(b"top 64\n"))}
    assert rows[named[case]] == HOSTILE[case][1]


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_name_is_whole_in_json(
    server: RunningServer, named: dict[str, int], case: str
) -> None:
    assert ask_json(server)[named[case]] == HOSTILE[case][1]


def test_a_process_renamed_while_running_has_its_new_name_at_once(scanner: Scanner) -> None:
    with living("named", "0") as it:
        for turn in range(20):
            name = b"name ) %d" % turn
            rename(it, name)
            assert scanner.scan().one(it.pid).name == name


def test_a_process_renamed_all_the_time_is_there_once_with_the_bytes_of_its_names(
    scanner: Scanner,
) -> None:
    """The kernel locks nothing here: a name may be read half changed, and no more than that."""
    names = (b") 1 (\n", b"\xffbbbbbbbbbbbbb")
    with living("renamed", *(name.hex() for name in names)) as it:
        scans = [scanner.scan().one(it.pid).name for _ in range(50)]

        def is_renamed() -> bool:
            scans.append(scanner.scan().one(it.pid).name)
            return len(set(scans)) > 1

        wait_until(is_renamed, "it has another name")
    assert set(b"".join(scans)) <= set(b"".join(names))


def test_a_process_has_the_name_of_its_first_thread(scanner: Scanner) -> None:
    """Not of the one that a source may meet last."""
    with living("threads", "3") as it:
        assert scanner.scan().one(it.pid).name == b"lives"


def test_a_name_is_not_cut_by_a_reply_that_is_read_late(
    server: RunningServer, named: dict[str, int]
) -> None:
    """The reply was made when it was asked for: a process that ends meanwhile is still in it."""
    with living("named", str(enough_ms())) as it:
        rename(it, b"gone ) soon")
        with socket.create_connection((server.host, server.port)) as connection:
            connection.sendall(b"top 64\n")
            connection.shutdown(socket.SHUT_WR)
            wait_until(lambda: bool(connection.recv(1, socket.MSG_PEEK)), "the reply is there")
            it.process.kill()
            it.process.wait()
            reply = b""
            while piece := connection.recv(65536):
                reply += piece
    names = {row["pid"]: row["name"] for row in rows_of(reply)}
    assert names[it.pid] == "gone ) soon"
    assert named["newline"] in names
