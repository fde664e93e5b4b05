"""No descriptor is left, in the process or in the system, or accept fails for long for another
cause: nothing spins, and service goes on."""

import contextlib
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conformance.preload import preloaded
from tests.processes import (
    cpu_seconds,
    descriptor_limits,
    descriptors,
    stopped,
    tree,
    wait_until_asleep,
)
from tests.servers import (
    AS_US,
    PATIENCE_S,
    RunningServer,
    Start,
    ask_over,
    is_refusal,
    read_reply,
    rows_of,
)

Crowd = Callable[[RunningServer], list[socket.socket]]
CROWD = 40
SEEN_TO_SPIN_S = 0.4
"""Long enough to tell a server that spins from one that waits."""
HELD_LONG = ("--work", "snapshot", "--max-age", "86400000", *AS_US)
"""The one snapshot is taken before there is a limit: to answer from it takes no descriptor."""
NO_SCAN = b"error: cannot read the processes: out of descriptors\n\n"
"""What those are told who are accepted when not even a scan can be made."""
NO_LIBRARY = "it accepts without the C library"


@pytest.fixture
def crowd() -> Iterator[Crowd]:
    """Opens connections that nobody may be able to accept."""
    with contextlib.ExitStack() as stack:
        yield lambda server: stack.enter_context(server.crowd(CROWD))


def ask_all(clients: list[socket.socket]) -> list[socket.socket]:
    """Each asks and ends, unless it was turned away meanwhile."""
    for client in clients:
        with contextlib.suppress(OSError):
            client.sendall(b"top 2\n")
            client.shutdown(socket.SHUT_WR)
    return clients


def answer_of(connection: socket.socket) -> bytes:
    """All that comes, though the connection may be reset after it."""
    received = bytearray()
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            received += piece
    return bytes(received)


def waiting(crowd: list[socket.socket], timeout: float) -> list[socket.socket]:
    """Those who have no answer yet when the time is over, or all have one."""
    with selectors.DefaultSelector() as selector:
        for connection in crowd:
            selector.register(connection, selectors.EVENT_READ)
        while selector.get_map() and (ready := selector.select(timeout)):
            for key, _ in ready:
                selector.unregister(key.fileobj)
        return [key.fileobj for key in selector.get_map().values()]


def watch_them_wait(server: RunningServer, crowd: list[socket.socket], reason: str) -> None:
    """Whoever can be served has been; the others wait, and that must cost (nearly) no CPU."""
    pid = server.process.pid
    wait_until_asleep(pid)
    left = waiting(crowd, timeout=SEEN_TO_SPIN_S / 4)
    if not left:
        pytest.skip(reason)
    before = cpu_seconds(pid)
    assert waiting(left, timeout=SEEN_TO_SPIN_S) == left
    assert cpu_seconds(pid) - before < SEEN_TO_SPIN_S / 4


def check_all_are_answered(clients: list[socket.socket], server: RunningServer) -> None:
    """Though they could not be accepted for a while."""
    for client in clients:
        assert len(rows_of(answer_of(client))) == 2
    assert server.stop()["errors"]["accept"] > 0


def test_where_few_descriptors_are_left_clients_are_served_or_told_so(
    start: Start, crowd: Crowd
) -> None:
    server = start(*HELD_LONG)
    before = sockets_of_all(server)
    server.ask(b"top 2\n")
    everybody = at_rest(server, before)
    few = {pid: max(low_descriptors(pid)) + 5 for pid, sockets in everybody.items() if sockets}
    with descriptor_limits(few):
        answers = [answer_of(client) for client in ask_all(crowd(server))]
    refused = sum(map(is_refusal, answers))
    assert refused < CROWD, "nobody was served"
    for answer in answers:
        assert is_refusal(answer) or len(rows_of(answer)) == 2
    assert len(rows_of(server.ask(b"top 2\n"))) == 2
    assert server.stop()["errors"]["refused"] == refused
    if refused == 0:
        pytest.skip("it never holds so many descriptors in one process")


def test_a_burst_beyond_the_limit_is_served_or_told_so(start: Start, crowd: Crowd) -> None:
    """The limit is low from the start, and the burst comes while the server cannot look."""
    server = start("--work", "scan", descriptors=CROWD)
    for _ in range(2):
        with stopped(server.process.pid):
            clients = ask_all(crowd(server))
        answers = [answer_of(client) for client in clients]
        for answer in answers:
            assert is_refusal(answer) or answer == NO_SCAN or len(rows_of(answer)) == 2
        for client in clients:
            client.close()
        server.connect_when_there_is_room().close()


def sockets_of_all(server: RunningServer) -> dict[int, set[int]]:
    """Of each process of the server; again, if one ends meanwhile."""
    while True:
        with contextlib.suppress(OSError):
            return {pid: set(open_sockets(pid)) for pid in tree(server.process.pid)}


def at_rest(server: RunningServer, before: dict[int, set[int]]) -> dict[int, set[int]]:
    """Its sockets once it has let go of a client: a descriptor that it gives back only now is a
    free one below the limit. (Children may still close what they inherited.)"""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        now = sockets_of_all(server)
        if all(sockets <= before.get(pid, set()) for pid, sockets in now.items()):
            return now
        assert time.monotonic() < deadline, f"it holds {now} where it held {before}"


def low_descriptors(pid: int) -> list[int]:
    """All but the files of /proc that a scan keeps open, which are far above the others."""
    return [fd for fd, path in descriptors(pid).items() if not path.endswith("/stat")]


def test_where_no_descriptor_is_left_clients_wait_and_nothing_spins(
    start: Start, crowd: Crowd
) -> None:
    """When there are some again, all are answered."""
    server = start(*HELD_LONG)
    before = sockets_of_all(server)
    server.ask(b"top 2\n")
    everybody = at_rest(server, before)
    lowest = {pid: min(sockets) + 1 for pid, sockets in everybody.items() if sockets}
    with descriptor_limits(lowest):
        clients = ask_all(crowd(server))
        watch_them_wait(server, clients, "it had its accept ordered before there was this limit")
    check_all_are_answered(clients, server)


def open_sockets(pid: int) -> list[int]:
    return [fd for fd, path in descriptors(pid).items() if path.startswith("socket:")]


@pytest.fixture(scope="session")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return preloaded("refusing", tmp_path_factory.mktemp("preload"))


def test_where_the_system_is_out_of_files_clients_wait_and_nothing_spins(
    start: Start, crowd: Crowd, refusing: Path, tmp_path: Path
) -> None:
    """When there are some again, all are answered."""
    sign = tmp_path / "no-files"
    server = start(*HELD_LONG, environment={"LD_PRELOAD": str(refusing), "NO_FILES": str(sign)})
    server.ask(b"top 2\n")
    sign.touch()
    clients = ask_all(crowd(server))
    watch_them_wait(server, clients, NO_LIBRARY)
    sign.unlink()
    check_all_are_answered(clients, server)


def test_where_accept_is_forbidden_clients_wait_nothing_spins_and_who_is_there_is_served(
    start: Start, crowd: Crowd, refusing: Path, tmp_path: Path
) -> None:
    """When it is allowed again, all are answered."""
    sign = tmp_path / "no-accept"
    server = start(*HELD_LONG, environment={"LD_PRELOAD": str(refusing), "NO_ACCEPT": str(sign)})
    with server.connect() as there:
        assert len(rows_of(ask_over(there))) == 2
        sign.touch()
        clients = ask_all(crowd(server))
        watch_them_wait(server, clients, NO_LIBRARY)
        assert len(rows_of(ask_over(there))) == 2
    # Whoever serves one client at a time tries only now.
    watch_them_wait(server, clients, NO_LIBRARY)
    sign.unlink()
    check_all_are_answered(clients, server)


def test_where_the_kernel_watches_no_more_sockets_whoever_has_asked_is_answered(
    start: Start, crowd: Crowd, refusing: Path, tmp_path: Path
) -> None:
    """All have asked when they are accepted, and end only when they have their answers."""
    sign = tmp_path / "no-watches"
    server = start(*HELD_LONG, environment={"LD_PRELOAD": str(refusing), "NO_WATCHES": str(sign)})
    server.ask(b"top 2\n")
    with stopped(server.process.pid):
        sign.touch()
        clients = crowd(server)
        for client in clients:
            client.sendall(b"top 2\n")
    for client in clients:
        assert len(rows_of(read_reply(client))) == 2
        client.close()
    sign.unlink()
    server.connect_when_there_is_room().close()
