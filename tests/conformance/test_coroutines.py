"""coroutines: a request that waits holds up no other, on one thread."""

import select
import time
from pathlib import Path

import pytest

from tests.servers import runnable, running

CLIENTS = 40
WAIT_S = 0.05
COROUTINES = [row.name for row in runnable() if row.name.startswith("coroutine")]


@pytest.mark.parametrize("name", COROUTINES)
def test_requests_wait_at_the_same_time(tmp_path: Path, name: str) -> None:
    options = ("--design", name, "--work", f"wait={WAIT_S * 1000:.0f}ms")
    with running(tmp_path, *options) as server, server.connect_many(CLIENTS) as clients:
        begun_s = time.monotonic()
        for client in clients:
            client.sendall(b"top 1\ntop 1\n")
        for client in clients:
            answer = b""
            while answer.count(b"\n\n") < 2:
                answer += client.recv(4096)
        took_s = time.monotonic() - begun_s
    assert 2 * WAIT_S <= took_s < CLIENTS * WAIT_S / 2, "one after the other"


def waited_s(folder: Path) -> float:
    """How long a wait of 0.7 s takes if another one begins 0.4 s later."""
    folder.mkdir()
    with (
        running(folder, "--design", "coroutines", "--work", "wait=700ms") as server,
        server.connect_many(2) as (first, second),
    ):
        begun_s = time.monotonic()
        first.sendall(b"top 1\n")
        select.select([first], [], [], 0.4)
        second.sendall(b"top 1\n")
        assert first.recv(4096).startswith(b"rank")
        took_s = time.monotonic() - begun_s
        assert second.recv(4096).startswith(b"rank")
    return took_s


def test_waits_of_several_parts_end_in_their_order(tmp_path: Path) -> None:
    """A wait is cut into parts of half a second: the last part of an earlier one ends before the
    first part of a later one, after 0.9 s."""
    took_s = [waited_s(tmp_path / f"{number}") for number in range(3)]
    assert min(took_s) >= 0.7
    assert min(took_s) < 0.85
