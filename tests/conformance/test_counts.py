"""The summary reports exactly what was served, and how often it was scanned for that."""

import socket
import time

from tests.dialects import Dialect
from tests.servers import ListedDesign, RunningServer, Start, read_all, rows_of
from tests.sockets import wait_until_read


def test_requests_and_connections_are_counted_once_and_by_worker(
    start: Start, design: ListedDesign, dialect: Dialect
) -> None:
    """A design without a pool counts as one worker."""
    server = start("--work", "snapshot", *design.workers(3))
    with server.connect_many(60) as connections:
        connections[0].sendall(dialect.request(1)[:2])  # what is read first is not all of it
        wait_until_read(connections[0])
        for connection in connections:
            begun = 2 if connection is connections[0] else 0
            connection.sendall((dialect.request(1) * 2)[begun:])
            connection.shutdown(socket.SHUT_WR)
        for connection in connections:
            read_all(connection)
    server.ask(b"")
    summary = server.stop()
    assert len(summary["workers"]) == (3 if design.pool else 1)
    assert (summary["connections"], summary["requests"]) == (61, 120)
    assert sum(worker["requests"] for worker in summary["workers"]) == 120
    # The connection without a request may have reached no worker.
    assert sum(worker["connections"] for worker in summary["workers"]) in (60, 61)
    assert sum(summary["errors"].values()) == 0
    assert summary["workers_replaced"] == 0


MAX_AGE_S = 0.05
LASTING_S = 0.3


def ask_all_at_once(server: RunningServer, clients: int) -> int:
    """One request on each of `clients` connections. Returns the number of replies."""
    with server.connect_many(clients) as connections:
        for connection in connections:
            connection.sendall(b"top 2\n")
            connection.shutdown(socket.SHUT_WR)
        return sum(len(rows_of(read_all(connection))) == 2 for connection in connections)


def test_scans_depend_on_the_maximum_age_and_not_on_the_clients(start: Start) -> None:
    server = start("--work", "snapshot", "--max-age", str(round(MAX_AGE_S * 1000)))
    begun = time.monotonic()
    while time.monotonic() < begun + LASTING_S:
        assert ask_all_at_once(server, 50) == 50
    lasted = time.monotonic() - begun
    assert 1 <= server.stop()["scans"] <= lasted / MAX_AGE_S + 1


def test_the_classic_work_scans_for_each_request(start: Start) -> None:
    """Even for simultaneous requests: scans are not shared."""
    server = start("--work", "classic")
    assert ask_all_at_once(server, 20) == 20
    assert server.stop()["scans"] == 20
