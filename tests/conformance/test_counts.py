"""What the summary says was served is what was served."""

import socket

from tests.dialects import Dialect
from tests.servers import ListedDesign, Start, read_all


def test_every_request_and_connection_is_counted_once(start: Start, dialect: Dialect) -> None:
    server = start("--work", "snapshot")
    for _ in range(10):
        server.ask(dialect.request(1) * 3)
    server.ask(b"")
    summary = server.stop()
    assert (summary["connections"], summary["requests"]) == (11, 30)
    assert sum(summary["errors"].values()) == 0
    assert summary["workers_replaced"] == 0


def test_what_the_workers_served_adds_up(start: Start, design: ListedDesign) -> None:
    """In a design without a pool, the one entry is all there is."""
    server = start("--work", "snapshot", *design.workers(3))
    with server.crowd(60) as connections:
        for connection in connections:
            connection.sendall(b"top 1\n" * 2)
            connection.shutdown(socket.SHUT_WR)
        for connection in connections:
            read_all(connection)
    summary = server.stop()
    assert len(summary["workers"]) == (3 if design.pool else 1)
    for what, total in (("connections", 60), ("requests", 120)):
        assert summary[what] == total
        assert sum(worker[what] for worker in summary["workers"]) == total


def test_what_goes_wrong_is_counted_by_its_kind(start: Start) -> None:
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


def test_concurrent_requests_of_the_snapshot_work_share_one_scan(
    start: Start, dialect: Dialect
) -> None:
    server = start("--work", "snapshot", "--max-age", "86400000")
    with server.crowd(50) as connections:
        for connection in connections:
            connection.sendall(dialect.request(2) * 4)
            connection.shutdown(socket.SHUT_WR)
        replies = [reply for each in connections for reply in dialect.split(read_all(each))]
    assert len(replies) == 200
    assert len(set(replies)) == 1
    summary = server.stop()
    assert summary["requests"] == 200
    assert summary["scans"] == 1
