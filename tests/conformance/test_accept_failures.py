"""When accept keeps failing (no descriptors in the process or the system, no permission) the server
does not spin, and service continues afterwards."""

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
    ONE_SNAPSHOT,
    PATIENCE_S,
    ListedDesign,
    RunningServer,
    Start,
    ask_over,
    is_refusal,
    read_reply,
    read_until_lost,
    rows_of,
)

Connect = Callable[[RunningServer], list[socket.socket]]
CLIENTS = 40
SEEN_TO_SPIN_S = 0.24
"""Long enough to distinguish a server that spins from one that waits."""
CONNECTED = 4
PROMPT_S = 1.0
OPTIONS = (*ONE_SNAPSHOT, *AS_US)
"""The one snapshot is taken before the limit is set: to answer from it takes no descriptor."""
NO_LIBRARY = "it accepts without the C library"


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Opens connections that the server may be unable to accept."""
    with contextlib.ExitStack() as stack:
        yield lambda server: stack.enter_context(server.connect_many(CLIENTS))


def ask_all(clients: list[socket.socket]) -> list[socket.socket]:
    """Each client sends a request and half-closes, unless it was refused already."""
    for client in clients:
        with contextlib.suppress(OSError):
            client.sendall(b"top 2\n")
            client.shutdown(socket.SHUT_WR)
    return clients


def unanswered(clients: list[socket.socket], timeout: float) -> list[socket.socket]:
    """Clients without a reply after this time."""
    with selectors.DefaultSelector() as selector:
        for connection in clients:
            selector.register(connection, selectors.EVENT_READ)
        while selector.get_map() and (ready := selector.select(timeout)):
            for key, _ in ready:
                selector.unregister(key.fileobj)
        return [key.fileobj for key in selector.get_map().values()]


def check_the_server_waits(
    server: RunningServer, clients: list[socket.socket], skip_reason: str
) -> None:
    """Clients that cannot be accepted must cost (nearly) no CPU time."""
    pid = server.process.pid
    wait_until_asleep(pid)
    left = unanswered(clients, timeout=SEEN_TO_SPIN_S / 4)
    if not left:
        pytest.skip(skip_reason)
    before = cpu_seconds(pid)
    assert unanswered(left, timeout=SEEN_TO_SPIN_S) == left
    assert cpu_seconds(pid) - before < SEEN_TO_SPIN_S / 4


def check_all_are_answered(clients: list[socket.socket], server: RunningServer) -> None:
    """After accept has failed for a while."""
    for client in clients:
        assert len(rows_of(read_until_lost(client))) == 2
    assert server.stop()["errors"]["accept"] > 0


def test_with_few_descriptors_left_clients_are_served_or_refused(
    start: Start, connect: Connect
) -> None:
    server, sockets_by_pid = at_rest(start)
    few = {pid: max(low_descriptors(pid)) + 5 for pid, sockets in sockets_by_pid.items() if sockets}
    with descriptor_limits(few):
        answers = [read_until_lost(client) for client in ask_all(connect(server))]
    refused = sum(map(is_refusal, answers))
    assert refused < CLIENTS, "no client was served"
    for answer in answers:
        assert is_refusal(answer) or len(rows_of(answer)) == 2
    assert len(rows_of(server.ask(b"top 2\n"))) == 2
    assert server.stop()["errors"]["refused"] == refused
    if refused == 0:
        pytest.skip("it never holds so many descriptors in one process")


def sockets_of_all(server: RunningServer) -> dict[int, set[int]]:
    """The sockets of each process of the server. Retries if a process ends meanwhile."""
    while True:
        with contextlib.suppress(OSError):
            pids = tree(server.process.pid)
            found = ((pid, descriptors(pid).items()) for pid in pids)
            return {
                pid: {fd for fd, path in opened if path.startswith("socket:")}
                for pid, opened in found
            }


def at_rest(start: Start) -> tuple[RunningServer, dict[int, set[int]]]:
    """A server that has served a client, and its sockets once that is closed: one that is freed
    later would be below the limit. (Children may still close inherited ones.)"""
    server = start(*OPTIONS)
    before = sockets_of_all(server)
    server.ask(b"top 2\n")
    deadline = time.monotonic() + PATIENCE_S
    while True:
        now = sockets_of_all(server)
        if all(sockets <= before.get(pid, set()) for pid, sockets in now.items()):
            return server, now
        assert time.monotonic() < deadline, f"it holds {now} where it held {before}"


def low_descriptors(pid: int) -> list[int]:
    """All but the /proc files that scans keep open, which have far higher numbers."""
    return [fd for fd, path in descriptors(pid).items() if not path.endswith("/stat")]


def test_with_no_descriptor_left_clients_wait_and_nothing_spins(
    start: Start, connect: Connect
) -> None:
    """All are answered once descriptors are available again."""
    server, sockets_by_pid = at_rest(start)
    lowest = {pid: min(sockets) + 1 for pid, sockets in sockets_by_pid.items() if sockets}
    with descriptor_limits(lowest):
        clients = ask_all(connect(server))
        check_the_server_waits(server, clients, "its accept was submitted before the limit was set")
    check_all_are_answered(clients, server)


def preloading(variable: str, path: Path) -> dict[str, str]:
    """Environment in which calls fail while `path` exists: failing_calls.c."""
    return {"LD_PRELOAD": preloaded("failing_calls"), variable: str(path)}


@pytest.mark.parametrize("variable", ["NO_FILES", "NO_ACCEPT"])
def test_while_accept_fails_new_clients_wait_nothing_spins_and_connected_ones_are_served(
    start: Start, connect: Connect, variable: str, tmp_path: Path
) -> None:
    """All are answered once accept works again."""
    failing = tmp_path / "failing"
    server = start(*OPTIONS, environment=preloading(variable, failing))
    with server.connect() as connected:
        assert len(rows_of(ask_over(connected))) == 2
        failing.touch()
        clients = ask_all(connect(server))
        check_the_server_waits(server, clients, NO_LIBRARY)
        assert len(rows_of(ask_over(connected))) == 2
    # A design that serves one client at a time calls accept only now.
    check_the_server_waits(server, clients, NO_LIBRARY)
    failing.unlink()
    check_all_are_answered(clients, server)


def check_it_is_idle(server: RunningServer, design: ListedDesign) -> None:
    """Without requests it costs (nearly) no CPU time."""
    if design.name == "uring-sqpoll":
        return  # each attempt to accept keeps the kernel's thread awake
    before = cpu_seconds(server.process.pid)
    time.sleep(SEEN_TO_SPIN_S)
    assert cpu_seconds(server.process.pid) - before < SEEN_TO_SPIN_S / 4


def test_after_another_holder_shuts_the_listener_down_connected_clients_are_served(
    design: ListedDesign, start: Start
) -> None:
    """From then on each accept fails with EINVAL. A pool has idle workers, too."""
    count = 1 if design.serves == "one" else CONNECTED
    listener = socket.create_server(("127.0.0.1", 0))
    options = (*OPTIONS, *design.workers(CONNECTED + 2))
    server = start(*options, listener=listener)
    with server.connect_many(count) as connected:
        for client in connected:
            assert len(rows_of(ask_over(client))) == 2
        listener.shutdown(socket.SHUT_RDWR)
        with pytest.raises(ConnectionRefusedError):
            server.connect()
        for _ in range(10):
            for client in connected:
                asked = time.monotonic()
                assert len(rows_of(ask_over(client))) == 2
                assert time.monotonic() - asked < PROMPT_S
        check_it_is_idle(server, design)
    # A design that serves one client at a time calls accept only now.
    check_it_is_idle(server, design)
    server.stop()
    listener.close()


def test_clients_that_epoll_cannot_watch_are_answered(
    start: Start, connect: Connect, tmp_path: Path
) -> None:
    """Their requests are there when they are accepted, and they close only after their replies."""
    failing = tmp_path / "failing"
    server = start(*OPTIONS, environment=preloading("NO_WATCHES", failing))
    server.ask(b"top 2\n")
    with stopped(server.process.pid):
        failing.touch()
        clients = connect(server)
        for client in clients:
            client.sendall(b"top 2\n")
    for client in clients:
        assert len(rows_of(read_reply(client))) == 2
        client.close()
    failing.unlink()
    server.connect_when_there_is_room().close()
