"""Limits of connections: surplus clients are refused, and accepted again when others have left."""

import contextlib
import socket
from pathlib import Path

from tests.processes import wait_until_asleep
from tests.servers import (
    PATIENCE_S,
    ListedDesign,
    RunningServer,
    Start,
    ask_over,
    is_refusal,
    read_all,
    read_reply,
    rows_of,
    running,
)

ALLOWED = 5


def test_surplus_clients_are_refused_or_wait_in_the_backlog(
    start: Start, design: ListedDesign
) -> None:
    """Those that wait are served as soon as there is room."""
    allowed = 1 if design.serves == "one" else ALLOWED
    surplus_workers = design.serving(2 * ALLOWED) if design.serves == "workers" else ()
    server = start("--max-connections", str(allowed), *surplus_workers)
    with server.connect_many(allowed) as held:
        for connection in held:
            ask_over(connection)
        with server.connect_many(3) as surplus:
            refused = [each for each in surplus if is_refused_at_once(server, each, design)]
            for connection in refused:
                assert is_refusal(read_all(connection))
            for connection in held:
                ask_over(connection)
                connection.close()
            for connection in surplus:
                if connection not in refused:
                    connection.sendall(b"top 2\n")
                    connection.shutdown(socket.SHUT_WR)
                    assert len(rows_of(read_all(connection))) == 2
    assert server.stop()["errors"]["refused"] == len(refused)


def is_refused_at_once(
    server: RunningServer, connection: socket.socket, design: ListedDesign
) -> bool:
    """Required of designs without a limit of their own; in others clients wait for a worker."""
    wait_until_asleep(server.process.pid)
    connection.setblocking(False)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        assert design.serves != "all", "it is neither served nor refused"
        return False
    finally:
        connection.settimeout(PATIENCE_S)
    return True


FD_SETSIZE = 1024
CLIENTS = 1060


def test_clients_beyond_what_select_can_watch_are_refused(tmp_path: Path) -> None:
    with running(tmp_path, "--design", "select", "--work", "snapshot") as server:
        served, refused = [], []
        with server.connect_many(CLIENTS) as clients:
            for connection in clients:
                with contextlib.suppress(ConnectionError):
                    connection.sendall(b"top 1\n")
                reply = read_reply(connection)
                if reply.startswith(b"rank"):
                    served.append(connection)
                else:
                    refused.append(reply)
            # The server itself needs about a dozen descriptors.
            assert FD_SETSIZE - 24 <= len(served) < FD_SETSIZE
            assert len(served) + len(refused) == CLIENTS
            assert all(map(is_refusal, refused))
            for connection in served:
                assert len(rows_of(ask_over(connection))) == 2
        server.connect_when_there_is_room().close()
        assert server.stop()["errors"]["refused"] >= len(refused)
