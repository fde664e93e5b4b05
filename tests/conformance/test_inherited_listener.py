"""A listening socket inherited from the parent and shared by all workers."""

import contextlib
from pathlib import Path

import pytest

from tests.commands import assert_refused, run
from tests.processes import tasks
from tests.servers import ListedDesign, RunningServer, Start, program, rows_of, running
from tests.socket_activation import socket_activation

CLIENTS = 64
WORKERS = 16
HOST = "127.0.0.77"


def switches(server: RunningServer) -> int:
    """Voluntary context switches of all its processes and threads."""
    count = 0
    for task in tasks(server.process.pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            status = Path(f"/proc/{task}/status").read_text()
            count += int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])
    return count


def test_a_new_client_does_not_wake_all_workers(start: Start, design: ListedDesign) -> None:
    server = start("--work", "snapshot", *design.workers(WORKERS), prefix=socket_activation(HOST))
    assert server.host == HOST
    assert len(rows_of(server.ask(b"top 2\n"))) == 2
    before = switches(server)
    for _ in range(CLIENTS):
        server.ask(b"top 2\n")
    assert switches(server) - before < CLIENTS * WORKERS / 2


@pytest.mark.parametrize(
    ("activation", "complaint"),
    [
        (socket_activation(count=2), "LISTEN_FDS"),
        (socket_activation(listens=False), "a listening TCP socket is expected"),
        (socket_activation("0.0.0.0"), "--allow"),
        (socket_activation("0.0.0.0"), "--token-file"),
    ],
)
def test_an_unsuitable_inherited_socket_is_refused(activation: list[str], complaint: str) -> None:
    """One that other hosts can reach needs access control like any other address."""
    done = run(*activation, program("regatta-server"), "--quiet")
    assert_refused(done, status=1)
    assert complaint in done.stderr


def test_sockets_for_another_process_are_ignored(tmp_path: Path) -> None:
    with running(tmp_path, environment={"LISTEN_PID": "1", "LISTEN_FDS": "1"}) as server:
        assert server.host == "127.0.0.1"
