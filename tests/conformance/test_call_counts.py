"""A client that asks once and leaves causes no wasted system calls: no accept without a client, no
epoll_ctl for a connection that is about to close, no repeated change of the signal mask, and no
write under a lock."""

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
"""Descriptors that each loop watches from its start: listener, stop signal, finished replies."""
MASKS = 3
"""To start a worker: in the parent before and after it, and in the worker."""
MASKS_OF_A_START = 4
SINGLES = 15
"""Clients that a loop accepts one at a time after the backlog was empty: reactor.c."""


@dataclass(frozen=True)
class Calls:
    accepted: int
    empty_accepts: int
    epoll_ctls: int
    mask_changes: int
    """Calls that change the signal mask."""
    locked_writes: int
    """Writes by a thread that holds a lock."""


@pytest.fixture
def counting(
    start: Start, design: ListedDesign, tmp_path: Path
) -> Callable[[Callable[[RunningServer], None]], Calls]:
    """Counts the calls of a server until its clients have their replies."""

    def count(clients_come: Callable[[RunningServer], None]) -> Calls:
        counts = tmp_path / "calls"
        counts.write_bytes(bytes(mmap.PAGESIZE))
        environment = {"LD_PRELOAD": preloaded("count_calls"), "CALLS": str(counts)}
        # With deferred accept the request is there already, so that nothing need be watched.
        options = ("--defer-accept", "--work", "snapshot", *design.workers(WORKERS))
        server = start(*options, environment=environment)
        clients_come(server)
        calls = Calls(*struct.unpack_from("@5Q", counts.read_bytes()))
        assert server.stop()["requests"] == CLIENTS
        return calls

    return count


def one_after_another(server: RunningServer) -> None:
    for _ in range(CLIENTS):
        with server.connect() as client:
            client.sendall(REQUEST)
            assert read_all(client).startswith(b"HTTP/1.1 200")


def all_at_once(server: RunningServer) -> None:
    with server.connect_many(CLIENTS) as clients:
        for client in clients:
            client.sendall(REQUEST)
        for client in clients:
            assert read_all(client).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("come", [one_after_another, all_at_once])
def test_a_client_that_asks_once_is_accepted_once_and_never_watched(
    counting: Callable[[Callable[[RunningServer], None]], Calls],
    design: ListedDesign,
    come: Callable[[RunningServer], None],
) -> None:
    calls = counting(come)
    # io_uring accepts without a call.
    assert calls.accepted == (0 if "uring" in design.name else CLIENTS)
    assert calls.empty_accepts <= CLIENTS / (SINGLES + 1) + WORKERS
    assert calls.epoll_ctls <= WATCHED * WORKERS
    assert calls.mask_changes <= MASKS * WORKERS + MASKS_OF_A_START
    assert calls.locked_writes == 0
