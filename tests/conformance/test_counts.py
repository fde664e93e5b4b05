"""The summary reports exactly what was served."""

import socket

from tests.dialects import Dialect
from tests.servers import ListedDesign, Start, read_all
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


def test_errors_are_counted_by_kind(start: Start) -> None:
    server = start("--work", "snapshot")
    server.ask(b"hello\n")
    server.ask(b"t" * 500)
    server.ask(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2)
    errors = server.stop()["errors"]
    assert {kind: count for kind, count in errors.items() if count} == {
        "malformed": 1,
        "too_long": 1,
        "not_found": 2,
    }
