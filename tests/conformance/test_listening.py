"""Listening: on the given address, exclusively, and free again after the end; or on a socket that
is inherited from the parent and shared by all workers."""

import contextlib
import socket
from pathlib import Path

import pytest

from tests.commands import assert_refused, run
from tests.every_design import all_at_once
from tests.processes import tasks
from tests.servers import (
    PASS_LISTENER,
    ListedDesign,
    RunningServer,
    Start,
    ask_over,
    program,
    rows_of,
    running,
)
from tests.sockets import OWN_HOST


@pytest.mark.parametrize("listen", ["127.0.0.2:0", "localhost:0", "[::1]:0"])
def test_it_listens_on_the_given_address(start: Start, listen: str) -> None:
    server = start(listen=listen)
    assert len(rows_of(server.ask(b"top 2\n"))) == 2


def test_a_second_server_on_the_same_port_is_refused(
    server: RunningServer, design: ListedDesign
) -> None:
    """Of the same design, which might share the port (SO_REUSEPORT), and of another."""
    for second in (design.name, "select"):
        done = run(program("regatta-server"), "--design", second, "--listen", server.address)
        assert_refused(done, status=1)
        assert f"cannot listen on {server.address}: Address already in use" in done.stderr
    for _ in range(20):
        assert len(rows_of(server.ask(b"top 2\n"))) == 2


def test_the_port_is_free_immediately_after_the_end(start: Start) -> None:
    """Although the server closed a connection first, which stays in TIME_WAIT."""
    server = start(listen=f"{OWN_HOST}:0")
    with server.connect() as connection:
        connection.sendall(b"GET /top HTTP/1.0\r\n\r\n")
        while connection.recv(65536):
            pass
    server.stop()
    assert len(rows_of(start(listen=server.address).ask(b"top 2\n"))) == 2


def test_with_deferred_accept_a_client_is_accepted_on_its_first_request(tmp_path: Path) -> None:
    """An idle one stays in the kernel."""

    def check(design: ListedDesign, folder: Path) -> None:
        with (
            running(folder, "--design", design.name, "--defer-accept") as server,
            server.connect(),
            server.connect() as asking,
        ):
            assert len(rows_of(ask_over(asking))) == 2
            assert server.stop()["connections"] == 1

    all_at_once(check, tmp_path)


# Inherited sockets

CLIENTS = 64
WORKERS = 16
INHERITED_HOST = "127.0.0.77"


def switches(server: RunningServer) -> int:
    """Voluntary context switches of all its processes and threads."""
    count = 0
    for task in tasks(server.process.pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            status = Path(f"/proc/{task}/status").read_text()
            count += int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])
    return count


def test_a_new_client_does_not_wake_all_workers(start: Start, design: ListedDesign) -> None:
    with socket.create_server((INHERITED_HOST, 0)) as listener:
        server = start("--work", "snapshot", *design.workers(WORKERS), listener=listener)
    assert server.host == INHERITED_HOST
    assert len(rows_of(server.ask(b"top 2\n"))) == 2
    before = switches(server)
    for _ in range(CLIENTS):
        server.ask(b"top 2\n")
    assert switches(server) - before < CLIENTS * WORKERS / 2


@pytest.mark.parametrize(
    ("host", "count", "complaint"),
    [
        ("127.0.0.1", 2, "LISTEN_FDS"),
        ("", 1, "a listening TCP socket is expected"),
        ("0.0.0.0", 1, "--allow"),
        ("0.0.0.0", 1, "--token-file"),
    ],
)
def test_an_unsuitable_inherited_socket_is_refused(host: str, count: int, complaint: str) -> None:
    """One that other hosts can reach needs access control like any other address."""
    with socket.create_server((host, 0)) if host else socket.socket() as inherited:
        passing = ("bash", "-c", PASS_LISTENER, "bash", inherited.fileno())
        server = ("env", f"LISTEN_FDS={count}", program("regatta-server"), "--quiet")
        done = run(*passing, *server, pass_fds=[inherited.fileno()])
    assert_refused(done, status=1)
    assert complaint in done.stderr


def test_sockets_for_another_process_are_ignored(tmp_path: Path) -> None:
    with running(tmp_path, environment={"LISTEN_PID": "1", "LISTEN_FDS": "1"}) as server:
        assert server.host == "127.0.0.1"
