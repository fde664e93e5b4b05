"""A client that asks once and leaves causes no wasted system calls: no accept without a client, no
epoll_ctl for a connection that is about to close, no repeated change of the signal mask, and no
write under a lock."""

import mmap
import struct
from collections.abc import Callable
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
    start: Start, design: ListedDesign, come: Callable[[RunningServer], None], tmp_path: Path
) -> None:
    """Counted until the clients have their replies."""
    counts = tmp_path / "calls"
    counts.write_bytes(bytes(mmap.PAGESIZE))
    environment = {"LD_PRELOAD": preloaded("count_calls"), "CALLS": str(counts)}
    # With deferred accept the request is there already, so that nothing need be watched.
    options = ("--defer-accept", "--work", "snapshot", *design.workers(WORKERS))
    server = start(*options, environment=environment)
    come(server)
    calls = struct.unpack_from("@5Q", counts.read_bytes())
    accepted, empty_accepts, epoll_ctls, mask_changes, writes_under_a_lock = calls
    assert server.stop()["requests"] == CLIENTS
    # io_uring accepts without a call.
    assert accepted == (0 if "uring" in design.name else CLIENTS)
    assert empty_accepts <= CLIENTS / (SINGLES + 1) + WORKERS
    assert epoll_ctls <= WATCHED * WORKERS
    assert mask_changes <= MASKS * WORKERS + MASKS_OF_A_START
    assert writes_under_a_lock == 0
