"""Listening: on the given address, exclusively, and free again after the end."""

import socket
from pathlib import Path

import pytest

from tests.commands import assert_refused, run
from tests.every_design import all_at_once
from tests.servers import (
    PATIENCE_S,
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


def test_it_listens_on_all_addresses_if_asked(start: Start) -> None:
    server = start("--allow", "127.0.0.0/8,::1", "--no-token", listen="[::]:0")
    for host in ("127.0.0.3", "::1"):
        with socket.create_connection((host, server.port), PATIENCE_S) as connection:
            assert len(rows_of(ask_over(connection))) == 2


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
