"""Clients that reset, read slowly, keep silent or come in crowds: no other client pays."""

import contextlib
import os
import re
import selectors
import socket
import time

import pytest

from tests.conformance.pipelining import HELD_LONG, check_that_all_is_answered
from tests.dialects import Dialect
from tests.servers import (
    PATIENCE_S,
    ListedDesign,
    RunningServer,
    Start,
    read_all,
    read_reply,
    rows_of,
)
from tests.sockets import reset, wait_until_read

CROWD = 1000
DATE = re.compile(rb"Date: [^\r]+\r\n")


def test_a_reset_in_mid_request_harms_nobody(server: RunningServer, dialect: Dialect) -> None:
    request = dialect.request(2)
    for length in range(len(request)):
        connection = server.connect()
        connection.sendall(request[:length])
        reset(connection)
    assert len(rows_of(server.ask(b"top 2\n"))) == 2


def test_a_reset_in_mid_reply_harms_nobody(server: RunningServer, dialect: Dialect) -> None:
    for _ in range(3):
        connection = server.connect(receive_buffer=1)
        connection.sendall(dialect.request(64) * 1000)
        connection.recv(1)
        reset(connection)
    assert len(rows_of(server.ask(b"top 2\n"))) == 2


def test_a_crowd_that_resets_at_once_harms_nobody(server: RunningServer) -> None:
    """All have asked; some are being answered, some have been, some were not even accepted."""
    crowd = [server.connect() for _ in range(200)]
    for connection in crowd:
        connection.sendall(b"top 64\n" * 2)
    for connection in crowd:
        reset(connection)
    assert len(rows_of(server.ask(b"top 2\n"))) == 2


def test_replies_larger_than_the_socket_buffers_reach_a_slow_reader_whole(
    start: Start, dialect: Dialect
) -> None:
    """Some 6 MB of replies against buffers of some 4 MB; the first 2,000 bytes one at a time."""
    server = start(*HELD_LONG)
    with server.connect() as connection:
        connection.sendall(dialect.request(64))
        reply = dialect.receive(connection)
    count = 6_000_000 // len(reply)
    with server.connect(receive_buffer=4096) as connection:
        sender = os.fork()
        if sender == 0:  # the requests, too, fill the buffers: they are sent beside the reading
            with contextlib.suppress(OSError):
                connection.sendall(dialect.request(64) * count)
                connection.shutdown(socket.SHUT_WR)
            os._exit(0)
        received = b"".join(connection.recv(1) for _ in range(2000)) + read_all(connection)
        os.waitpid(sender, 0)
    one, all_of_them = (DATE.sub(b"", each) for each in (reply, received))
    assert all_of_them.startswith(one * (count - 1))
    # The last may say that it is.
    assert dialect.answers(all_of_them[len(one) * (count - 1) :]) == dialect.answers(reply)


def test_requests_that_wait_behind_replies_are_answered_when_those_are_taken(start: Start) -> None:
    """Nothing that is told about the socket will speak of them again."""
    check_that_all_is_answered(start(*HELD_LONG))


def test_a_client_that_pipelines_leaves_others_their_turn(
    start: Start, design: ListedDesign
) -> None:
    """Others need not wait until all of it is answered, but where one is served at a time."""
    server = start("--work", "wait=1ms")
    with server.connect() as greedy, server.connect() as other:
        greedy.sendall(b"top 1\n" * 200)
        greedy.shutdown(socket.SHUT_WR)
        greedy.recv(1, socket.MSG_PEEK)
        other.sendall(b"top\n")
        read_reply(other)
        answered = greedy.recv(1 << 24, socket.MSG_DONTWAIT).count(b"\n\n")
    assert (answered < 160) == (design.serves != "one")


def test_silent_clients_hold_up_others_only_where_the_table_says_so(
    start: Start, design: ListedDesign
) -> None:
    """One fewer than it serves at a time holds up nobody; as many do, until one of them leaves."""
    count = {"one": 1, "workers": 2, "all": 64}[design.serves]
    server = start(*design.serving(count))
    with contextlib.ExitStack() as stack:
        for _ in range(count - 1):
            stack.enter_context(server.connect())
        assert len(rows_of(server.ask(b"top 2\n"))) == 2
        last = stack.enter_context(server.connect())
        other = stack.enter_context(server.connect())
        other.sendall(b"top 2\n")
        if design.serves != "all":
            other.settimeout(0.2)
            with pytest.raises(TimeoutError):
                other.recv(1)
            last.close()
            other.settimeout(PATIENCE_S)
        assert len(rows_of(read_reply(other))) == 2


def open_at_once(
    stack: contextlib.ExitStack, server: RunningServer, count: int
) -> list[socket.socket]:
    """Connections that are all begun before any is waited for."""
    connections = [stack.enter_context(socket.socket()) for _ in range(count)]
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            connection.setblocking(False)
            connection.connect_ex((server.host, server.port))
            selector.register(connection, selectors.EVENT_WRITE)
        deadline = time.monotonic() + PATIENCE_S
        while selector.get_map():
            for key, _ in selector.select(deadline - time.monotonic()):
                selector.unregister(key.fileobj)
            assert time.monotonic() < deadline, f"{len(selector.get_map())} are not connected"
    for connection in connections:
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
        connection.settimeout(PATIENCE_S)
    return connections


def test_a_thousand_connections_opened_at_once_are_all_answered(
    start: Start, dialect: Dialect
) -> None:
    """All are opened, then all ask and end, then all are read: nobody waits for anybody.

    One reading answers them: a thousand of a host with ten thousand processes take a minute.
    """
    server = start("--work", "snapshot")
    with contextlib.ExitStack() as stack:
        connections = open_at_once(stack, server, CROWD)
        for connection in connections:
            connection.sendall(dialect.request(1))
            connection.shutdown(socket.SHUT_WR)
        for connection in connections:
            (rows,) = dialect.answers(read_all(connection))
            assert len(rows) == 1


def test_a_request_that_came_before_the_others_left_is_answered(server: RunningServer) -> None:
    """Others come and leave unheard around it: their numbers are used again at once."""
    with server.connect() as connection:
        connection.sendall(b"to")
        wait_until_read(connection)
        for _ in range(20):
            server.connect().close()
            reset(server.connect())
        connection.sendall(b"p 2\n")
        assert len(rows_of(read_reply(connection))) == 2
