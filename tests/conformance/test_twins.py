"""The bare twin of each design (bench/twins) is a correct server too."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.processes import is_gone, tasks, tree
from tests.servers import PATIENCE_S, ListedDesign, RunningServer, built, running
from tests.sockets import OWN_HOST, free_port, reset, wait_until_accepting, wait_until_read
from tests.waiting import wait_until

BODY = b"rank pid name\n1 7 x\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d" % len(BODY)
REPLY = HEAD + b"\r\n\r\n" + BODY
LAST_REPLY = HEAD + b"\r\nConnection: close\r\n\r\n" + BODY
REQUEST = b"GET /top?n=2 HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST_REQUEST = REQUEST[:-2] + b"Connection: close\r\n\r\n"
REQUESTS, CONNECTIONS, WORKERS = 50, 50, 16


@pytest.fixture
def twin(design: ListedDesign, tmp_path: Path) -> Iterator[RunningServer]:
    reply = tmp_path / "reply"
    reply.write_bytes(REPLY)
    port = free_port()
    command = [built(f"bench/twin-{design.name}"), f"{OWN_HOST}:{port}", str(reply)]
    with subprocess.Popen(command) as process:
        try:
            wait_until_accepting(process, port, OWN_HOST)
            yield RunningServer(process, f"{OWN_HOST}:{port}", reply)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE_S)
            finally:  # the remaining workers of a pool
                process.kill()
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def read_exactly(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length and (piece := connection.recv(length - len(data))):
        data += piece
    return data


def check_answered(connection: socket.socket) -> None:
    connection.sendall(REQUEST)
    assert read_exactly(connection, len(REPLY)) == REPLY


def check_answered_and_closed(connection: socket.socket) -> None:
    connection.sendall(LAST_REQUEST)
    assert read_exactly(connection, 2 * len(LAST_REPLY)) == LAST_REPLY


def test_every_request_is_answered_and_connection_close_ends(twin: RunningServer) -> None:
    """Also one in pieces, one before a half-close, and one behind connections that reset."""
    for count in (REQUESTS, *[0] * CONNECTIONS):
        with twin.connect() as connection:
            for _ in range(count):
                check_answered(connection)
            check_answered_and_closed(connection)
    with twin.connect() as connection:
        connection.sendall(REQUEST)
        connection.shutdown(socket.SHUT_WR)
        assert read_exactly(connection, 2 * len(REPLY)) == REPLY
    with twin.connect() as connection:
        for cut in (1, len(REQUEST) // 2, len(REQUEST) - 3, len(REQUEST) - 1):
            connection.sendall(REQUEST[:cut])
            wait_until_read(connection)
            connection.sendall(REQUEST[cut:])
            assert read_exactly(connection, len(REPLY)) == REPLY
    for _ in range(CONNECTIONS):
        reset(twin.connect())
    with twin.connect() as connection:
        check_answered_and_closed(connection)


def test_several_clients_are_served_at_once(twin: RunningServer, design: ListedDesign) -> None:
    if design.serves == "one":
        pytest.skip("it serves one client at a time")
    with ExitStack() as stack:
        connections = [stack.enter_context(twin.connect()) for _ in range(WORKERS)]
        for _ in range(3):
            for connection in connections:
                connection.sendall(REQUEST)
            for connection in connections:
                assert read_exactly(connection, len(REPLY)) == REPLY


def test_it_has_as_many_workers_as_our_own_server(
    twin: RunningServer, design: ListedDesign, tmp_path: Path
) -> None:
    with twin.connect() as connection:
        connection.sendall(LAST_REQUEST)
        read_exactly(connection, 2 * len(LAST_REPLY))
    with running(tmp_path, "--design", design.name, "--no-recorder") as ours:
        for all_of in (tree, tasks):
            # Workers may still be starting, and children may still be exiting.
            wait_until(
                lambda all_of=all_of: (
                    len(all_of(twin.process.pid)) == len(all_of(ours.process.pid))
                ),
                lambda all_of=all_of: (
                    f"{len(all_of(twin.process.pid))}, ours {len(all_of(ours.process.pid))}"
                ),
            )


def test_sigterm_ends_it_and_all_children(twin: RunningServer, design: ListedDesign) -> None:
    clients = 1 if design.serves == "one" else WORKERS
    with ExitStack() as stack:
        for connection in [stack.enter_context(twin.connect()) for _ in range(clients)]:
            check_answered(connection)
        processes = tree(twin.process.pid)
        twin.process.terminate()
        assert twin.process.wait(PATIENCE_S) == -signal.SIGTERM
        assert [pid for pid in processes if not is_gone(pid)] == []
