"""SIGTERM: accepting stops, what was asked is answered, and the server ends with status 0."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
import time
from collections.abc import Callable

from tests.servers import PATIENCE_S, Server, read_all, read_reply, rows_of


def test_an_idle_server_ends_at_once(start: Callable[..., Server]) -> None:
    """Often, because a signal that arrives at the wrong moment is what designs get wrong."""
    for _ in range(25):
        start().stop()


def test_connections_that_only_wait_are_closed(start: Callable[..., Server]) -> None:
    server = start()
    with server.connect() as connection:
        connection.sendall(b"top 2\n")
        read_reply(connection)
        begun = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert connection.recv(1) == b""
        server.stop()
        # At once, and not by the limit of 5 s after which a drain gives clients up.
        assert time.monotonic() - begun < 3


def test_a_request_that_was_accepted_is_answered(start: Callable[..., Server]) -> None:
    """Forty clients have asked and wait, in the backlog of most designs, when the signal comes."""
    server = start("--work", "scan")
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(server.connect()) for _ in range(40)]
        for connection in connections:
            connection.sendall(b"top 3\n")
        server.process.send_signal(signal.SIGTERM)
        for connection in connections:
            connection.shutdown(socket.SHUT_WR)
            assert len(rows_of(read_all(connection))) == 3
    assert server.stop()["requests"] == 40


def test_no_reply_is_cut_short_under_load(start: Callable[..., Server]) -> None:
    """Clients ask on and on; each gets whole replies until the connection ends between two."""
    server = start("--work", "snapshot", "--max-age", "10")
    answered, cut = [0] * 8, []
    under_way = threading.Barrier(9)

    def ask_on(index: int) -> None:
        with server.connect() as connection:
            under_way.wait(PATIENCE_S)
            with contextlib.suppress(ConnectionError):
                while True:
                    connection.sendall(b"top 5\n")
                    received = b""
                    while not received.endswith(b"\n\n"):
                        piece = connection.recv(65536)
                        if not piece:
                            if received:
                                cut.append(received)
                            return
                        received += piece
                    rows_of(received)
                    answered[index] += 1

    clients = [threading.Thread(target=ask_on, args=(index,)) for index in range(8)]
    for client in clients:
        client.start()
    under_way.wait(PATIENCE_S)
    while sum(answered) < 200:
        assert server.process.poll() is None
    server.process.send_signal(signal.SIGTERM)
    for client in clients:
        client.join(PATIENCE_S)
        assert not client.is_alive()
    assert cut == []
    assert server.stop()["requests"] >= sum(answered)


def test_clients_who_connect_after_the_signal_do_not_prolong_the_drain(
    start: Callable[..., Server],
) -> None:
    """Eight clients connect, ask and leave, again and again, until nobody answers."""
    server = start("--work", "scan")
    answered = [0] * 8

    def ask_again(index: int) -> None:
        with contextlib.suppress(OSError):  # refused, reset, or gone before it was shut
            while server.ask(b"top 2\n"):
                answered[index] += 1

    clients = [threading.Thread(target=ask_again, args=(index,)) for index in range(8)]
    for client in clients:
        client.start()
    while sum(answered) < 50:
        assert server.process.poll() is None
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < 3
    for client in clients:
        client.join(PATIENCE_S)
        assert not client.is_alive()


def test_a_client_that_takes_no_replies_is_cut_off(start: Callable[..., Server]) -> None:
    """It is owed more than the buffers hold; five seconds are what a drain may take."""
    server = start("--work", "snapshot", "--max-age", "86400000")
    with server.connect(receive_buffer=1) as greedy:
        greedy.settimeout(1.0)
        with contextlib.suppress(TimeoutError):
            greedy.sendall(b"top 64\n" * 1_000_000)
        begun = time.monotonic()
        server.stop()
        assert time.monotonic() - begun < 8
