"""Process names that are hard to parse."""

import socket
from pathlib import Path

import pytest

from tests.busiest import enough_ms
from tests.servers import read_reply, rows_of, running
from tests.truth.programs import Scanner, living, options_of
from tests.waiting import wait_until

HOSTILE = {
    "parenthesis": b"a) R 1 (b",
    "closing": b") 0 0 0 0 0 0 0",
    "newline": b"two\nlines",
    "quotes": b"q\"uo'te",
    "backslash": b"back\\sl\\",
    "invalid": b"\xff\xfe!\xc3",
    "control": b"\x1b[2J\x01\x7f",
    "direction": "\u202egnp.exe".encode(),
    "invisible": "ng\u200binx".encode(),
    "formula": b"=cmd|' /C'!A0",
    "markup": b"<b onclick=x>",
    "longest": b"123456789012345",
    "empty": b"",
}
"""Their escaped form in replies: tests/unit/base/test_text.c."""


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_name_is_scanned_byte_for_byte(scanner: Scanner, case: str) -> None:
    with living("named", "0") as process:
        process.rename(HOSTILE[case])
        assert scanner.scan().one(process.pid).name == HOSTILE[case]


def test_a_constantly_renamed_process_is_listed_once(
    scanner: Scanner,
) -> None:
    """The kernel takes no lock here, so that a name may be a mixture of both."""
    names = (b") 1 (\n", b"\xffbbbbbbbbbbbbb")
    with living("renamed", *(name.hex() for name in names)) as it:
        scans = [scanner.scan().one(it.pid).name for _ in range(50)]

        def is_renamed() -> bool:
            scans.append(scanner.scan().one(it.pid).name)
            return len(set(scans)) > 1

        wait_until(is_renamed, "its name does not change")
    assert set(b"".join(scans)) <= set(b"".join(names))


def test_a_reply_lists_processes_that_ended_before_it_is_read(
    scanner: Scanner, tmp_path: Path
) -> None:
    options = ("--design", "epoll", *options_of(scanner.source))
    with (
        running(tmp_path, *options) as server,
        living("named", str(enough_ms())) as process,
        server.connect() as connection,
    ):
        process.rename(b"gone ) soon")
        connection.sendall(b"top 64\n")
        wait_until(lambda: connection.recv(1, socket.MSG_PEEK), "there is no reply")
        process.process.kill()
        process.process.wait()
        names = {row.number: row.name for row in rows_of(read_reply(connection))}
    assert names[process.pid] == "gone ) soon"
