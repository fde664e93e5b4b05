"""A client that asks once and leaves costs no call that is in vain: none to accept nobody, none to
have epoll watch who is gone by then, none to change signals twice, and none that others wait for.
How long they take is measured elsewhere; these are counts.
"""

import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conformance.preload import preloaded
from tests.servers import ListedDesign, RunningServer, Start, read_all

CLIENTS = 64
WORKERS = 8
REQUEST = b"GET /top?n=2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
WATCHED = 3
"""What each loop watches from its start: the listener, what it is told to stop by, and answers."""
MASKS = 3
"""To start a worker: in the parent before and after it, and in the worker."""
MASKS_OF_A_START = 4
SINGLES = 15
"""Clients that a loop accepts one at a time, once nobody else waited: reactor.c."""


@dataclass(frozen=True)
class Calls:
    accepted: int
    in_vain: int
    told: int
    masked: int
    """Calls that change which signals are held back."""
    held: int
    """Writes by a thread that held a lock, for which others then wait longer."""


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return preloaded("calls", tmp_path_factory.mktemp("preload"))


@pytest.fixture
def counting(
    start: Start, design: ListedDesign, library: Path, tmp_path: Path
) -> Callable[[Callable[[RunningServer], None]], Calls]:
    """What a server calls until its clients have their answers: how it ends is another matter."""

    def count(clients_come: Callable[[RunningServer], None]) -> Calls:
        counts = tmp_path / "calls"
        counts.write_bytes(bytes(mmap.PAGESIZE))
        environment = {"LD_PRELOAD": str(library), "CALLS": str(counts)}
        # Who is accepted has asked: else it is luck whether he is watched.
        options = ("--defer-accept", "--work", "snapshot", *design.workers(WORKERS))
        server = start(*options, environment=environment)
        clients_come(server)
        calls = Calls(*struct.unpack_from("@5Q", counts.read_bytes()))
        assert server.stop()["requests"] == CLIENTS
        return calls

    return count


def one_after_the_other(server: RunningServer) -> None:
    for _ in range(CLIENTS):
        with server.connect() as client:
            client.sendall(REQUEST)
            assert read_all(client).startswith(b"HTTP/1.1 200")


def all_at_once(server: RunningServer) -> None:
    with server.crowd(CLIENTS) as clients:
        for client in clients:
            client.sendall(REQUEST)
        for client in clients:
            assert read_all(client).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("come", [one_after_the_other, all_at_once])
def test_who_asks_once_is_accepted_once_and_never_watched(
    counting: Callable[[Callable[[RunningServer], None]], Calls],
    design: ListedDesign,
    come: Callable[[RunningServer], None],
) -> None:
    calls = counting(come)
    # io_uring accepts without a call.
    assert calls.accepted == (0 if "uring" in design.name else CLIENTS)
    assert calls.in_vain <= CLIENTS / (SINGLES + 1) + WORKERS
    assert calls.told <= WATCHED * WORKERS
    assert calls.masked <= MASKS * WORKERS + MASKS_OF_A_START
    assert calls.held == 0
