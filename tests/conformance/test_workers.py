"""Workers that are killed, and servers that are killed before their workers."""

import socket
import time

import pytest

from regatta.measure.network.ports import ESTABLISHED, ports_of
from tests.processes import children, is_gone, kill_all, state, tree
from tests.servers import ListedDesign, RunningServer, Start, ask_over, rows_of
from tests.sockets import OWN_HOST, is_listening
from tests.waiting import wait_until

HELD = 3
WORKERS = 4


def workers_of(server: RunningServer) -> list[int]:
    """Skips if it has no worker processes."""
    return children(server.process.pid) or pytest.skip("it has no worker processes")


def held_by(pid: int, server: RunningServer) -> int:
    """Its connections."""
    return ports_of(pid, ESTABLISHED).count(server.port)


def is_lost(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def wait_until_replaced(server: RunningServer, workers: list[int]) -> None:
    def are_replaced() -> bool:
        new = set(children(server.process.pid)) - set(workers)
        # Once it sleeps, it has counted them too.
        return len(new) == len(workers) and state(server.process.pid) == "S"

    wait_until(are_replaced, "not all workers were replaced")


def test_a_killed_worker_loses_its_own_clients_only(start: Start, design: ListedDesign) -> None:
    """Whether it waits for a client or serves one. A pool replaces it."""
    server = start(*design.workers(WORKERS))
    with server.connect_many(1 if design.serves == "one" else HELD) as held:
        for connection in held:
            ask_over(connection)
        workers, its_own = workers_of(server), 0
        for killed, pid in enumerate(workers, start=1):
            its_own += held_by(pid, server)
            kill_all([pid])
            assert len(rows_of(server.ask(b"top 2\n"))) == 2
            assert sum(map(is_lost, held)) <= its_own
            if design.serves == "workers":
                assert its_own <= killed
        wait_until(lambda: all(map(is_lost, held)), "a connection outlives its worker")
    if design.pool:
        wait_until_replaced(server, workers)
        assert len(workers) == WORKERS
        assert server.stop()["workers_replaced"] == WORKERS


def test_workers_killed_simultaneously_are_all_replaced(start: Start, design: ListedDesign) -> None:
    """Including the one that holds the accept lock."""
    server = start(*design.workers(WORKERS))
    workers = workers_of(server)
    kill_all(workers)
    for _ in range(2 * WORKERS):
        assert len(rows_of(server.ask(b"top 2\n"))) == 2
    wait_until_replaced(server, workers)
    assert server.stop()["workers_replaced"] == WORKERS


def test_workers_killed_during_a_drain_do_not_delay_it(start: Start) -> None:
    server = start()
    with server.connect() as stalled:
        ask_over(stalled)
        workers = workers_of(server)
        begun = time.monotonic()
        kill_all(workers)
        server.stop()
        assert time.monotonic() - begun < 3


def test_a_killed_server_leaves_no_workers_behind(start: Start) -> None:
    """They would occupy the port and answer for a server that no longer exists."""
    server = start(listen=f"{OWN_HOST}:0")
    with server.connect() as connection:
        ask_over(connection)
        processes = tree(server.process.pid)
        server.kill()
        wait_until(lambda: all(map(is_gone, processes)), "a worker outlives its server")
        # The kernel closes what an io_uring still holds some milliseconds after the process.
        wait_until(lambda: not is_listening(server.port), "its port is in use")
    assert len(rows_of(start(listen=server.address).ask(b"top 2\n"))) == 2
