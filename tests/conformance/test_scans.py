"""The number of scans depends on --max-age and not on the number of clients."""

import socket
import time

from tests.servers import RunningServer, Start, read_all, rows_of

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
