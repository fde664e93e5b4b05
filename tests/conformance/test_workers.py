"""Worker processes that die, and servers that die before their workers."""

import os
import signal
import socket
import time

import pytest

from tests.processes import children, is_gone, state, tree
from tests.servers import ListedDesign, RunningServer, Start, ask_over, rows_of
from tests.sockets import OWN_HOST
from tests.waiting import wait_until

HELD = 3
WORKERS = 4


def workers_of(server: RunningServer) -> list[int]:
    """Skips where it has no worker processes."""
    return children(server.process.pid) or pytest.skip("it has no worker processes")


def is_lost(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def is_free(host: str, port: int) -> bool:
    """Some milliseconds after its process the kernel ends what a ring of io_uring still held."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def kill(*workers: int) -> None:
    """Waits for their end: until then they may still take a client with them."""
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: all(map(is_gone, workers)), "SIGKILL ends everybody")


def await_replacement(server: RunningServer, workers: list[int]) -> None:
    def are_replaced() -> bool:
        new = set(children(server.process.pid)) - set(workers)
        # Asleep: it has counted them, too.
        return len(new) == len(workers) and state(server.process.pid) == "S"

    wait_until(are_replaced, "not all workers were replaced")


def test_a_worker_that_is_killed_costs_its_own_client_alone(
    start: Start, design: ListedDesign
) -> None:
    """A pool replaces it; wherever it was: waiting for a client, or serving one."""
    server = start(*design.workers(WORKERS))
    with server.crowd(1 if design.serves == "one" else HELD) as held:
        for connection in held:
            ask_over(connection)
        workers = workers_of(server)
        for killed, pid in enumerate(workers, start=1):
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda pid=pid: is_gone(pid), "it survives")
            assert len(rows_of(server.ask(b"top 2\n"))) == 2
            assert sum(map(is_lost, held)) <= killed
        wait_until(lambda: all(map(is_lost, held)), "a connection outlives its worker")
    if design.pool:
        await_replacement(server, workers)
        assert len(workers) == WORKERS
        assert server.stop()["workers_replaced"] == WORKERS


def test_workers_that_are_killed_all_at_once_are_all_replaced(
    start: Start, design: ListedDesign
) -> None:
    """Among them whoever has the lock under which they accept, if there is one."""
    server = start(*design.workers(WORKERS))
    workers = workers_of(server)
    kill(*workers)
    for _ in range(2 * WORKERS):
        assert len(rows_of(server.ask(b"top 2\n"))) == 2
    await_replacement(server, workers)
    assert server.stop()["workers_replaced"] == WORKERS


def test_a_worker_that_is_killed_while_it_drains_holds_up_nobody(start: Start) -> None:
    server = start()
    with server.connect() as stalled:
        ask_over(stalled)
        workers = workers_of(server)
        begun = time.monotonic()
        kill(*workers)
        server.stop()
        assert time.monotonic() - begun < 3


def test_a_server_that_is_killed_leaves_nobody_behind(start: Start) -> None:
    """Not even its workers: they would hold the port, and answer for a server that is gone."""
    server = start(listen=f"{OWN_HOST}:0")
    with server.connect() as connection:
        ask_over(connection)
        everybody = tree(server.process.pid)
        server.kill()
        wait_until(lambda: all(map(is_gone, everybody)), "a worker outlives its server")
        wait_until(lambda: is_free(server.host, server.port), "somebody holds its port")
    assert len(rows_of(start(listen=server.address).ask(b"top 2\n"))) == 2
