"""Clients that reset, read slowly, stay idle or arrive by the thousand harm no other client."""

import contextlib
import json
import os
import re
import socket
from pathlib import Path

import pytest

from tests.dialects import LINE, Dialect
from tests.processes import sleepers
from tests.servers import (
    ONE_SNAPSHOT,
    PATIENCE_S,
    ListedDesign,
    RunningServer,
    Start,
    built,
    read_all,
    read_reply,
    rows_of,
    running,
    table,
)
from tests.sockets import reset, wait_until_read

CROWD = 1000
DATE = re.compile(rb"Date: [^\r]+\r\n")


def test_a_reset_harms_no_other_client(server: RunningServer, dialect: Dialect) -> None:
    """In the middle of a request, in the middle of a reply, or two hundred at once."""
    request = dialect.request(2)
    for length in range(len(request)):
        connection = server.connect()
        connection.sendall(request[:length])
        reset(connection)
    for _ in range(3):
        connection = server.connect(receive_buffer=1)
        connection.sendall(dialect.request(64) * 1000)
        connection.recv(1)
        reset(connection)
    crowd = [server.connect() for _ in range(200)]
    for connection in crowd:
        connection.sendall(dialect.request(64) * 2)
    for connection in crowd:
        reset(connection)
    assert len(rows_of(server.ask(b"top 2\n"))) == 2


def test_replies_larger_than_the_socket_buffers_reach_a_slow_reader_whole(
    start: Start, dialect: Dialect
) -> None:
    """Some 6 MB of replies, some 4 MB of buffers; the first 2,000 bytes are read one at a time."""
    server = start(*ONE_SNAPSHOT)
    with server.connect() as connection:
        connection.sendall(dialect.request(64))
        reply = dialect.receive(connection)
    count = 6_000_000 // len(reply)
    with server.connect(receive_buffer=4096) as connection:
        sender = os.fork()
        if sender == 0:  # the requests fill the buffers too, so they are sent in parallel
            with contextlib.suppress(OSError):
                connection.sendall(dialect.request(64) * count)
                connection.shutdown(socket.SHUT_WR)
            os._exit(0)
        received = b"".join(connection.recv(1) for _ in range(2000)) + read_all(connection)
        os.waitpid(sender, 0)
    expected, received = (DATE.sub(b"", each) for each in (reply, received))
    assert received.startswith(expected * (count - 1))
    # The last one may announce the end of the connection.
    assert dialect.answers(received[len(expected) * (count - 1) :]) == dialect.answers(reply)


ROWS, PIPELINED = 64, 50
LARGE = b"top %d format=json\n" % ROWS


def check_all_answered(server: RunningServer) -> None:
    """Sends all requests before reading the first reply. The replies, about 8 KB each, exceed what
    the server buffers for a client plus what the kernel buffers for a socket."""
    with sleepers(ROWS):
        server.ask(LARGE)
    with server.connect(receive_buffer=1, segment=536) as connection:
        connection.sendall(LARGE * PIPELINED)
        wait_until_read(connection)
        connection.recv(1, socket.MSG_PEEK)
        received = bytearray()
        while received.count(b"\n\n") < PIPELINED:
            received += (piece := connection.recv(65536))
            assert piece, "the connection ended before all requests were answered"
    replies = LINE.split(bytes(received))
    assert [len(json.loads(reply)["processes"]) for reply in replies] == [ROWS] * PIPELINED


def test_requests_queued_behind_unread_replies_are_answered_once_those_are_read(
    start: Start,
) -> None:
    """The kernel will not report the socket as readable again."""
    check_all_answered(start(*ONE_SNAPSHOT))


def test_idle_clients_block_others_only_as_the_table_says(
    start: Start, design: ListedDesign
) -> None:
    """Up to one fewer than `serves` block no client; `serves` idle clients do, until one leaves."""
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


def test_a_thousand_connections_opened_at_once_are_all_answered(
    start: Start, dialect: Dialect
) -> None:
    """From one snapshot: a thousand scans of a host with ten thousand processes take a minute."""
    server = start("--work", "snapshot")
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(socket.socket()) for _ in range(CROWD)]
        for connection in connections:
            connection.setblocking(False)
            connection.connect_ex((server.host, server.port))
        for connection in connections:
            connection.settimeout(PATIENCE_S)  # also to be connected
            connection.sendall(dialect.request(1))
            connection.shutdown(socket.SHUT_WR)
        for connection in connections:
            (rows,) = dialect.answers(read_all(connection))
            assert len(rows) == 1


def test_a_client_is_served_although_others_connect_and_leave_meanwhile(
    server: RunningServer,
) -> None:
    """Their descriptor numbers are reused at once."""
    with server.connect() as connection:
        connection.sendall(b"to")
        wait_until_read(connection)
        for _ in range(20):
            server.connect().close()
            reset(server.connect())
        connection.sendall(b"p 2\n")
        assert len(rows_of(read_reply(connection))) == 2


RINGS = [row.name for row in table() if row.name.startswith("uring") and row.missing is None]


@pytest.mark.parametrize("ring", RINGS)
def test_a_partially_sent_reply_is_completed_when_completions_overflow(
    ring: str, tmp_path: Path
) -> None:
    """The server is ours, except that each batch with a partial send counts as an overflow."""
    overflowing = built("tests/conformance/overflowing-server")
    with running(tmp_path, "--design", ring, *ONE_SNAPSHOT, binary=overflowing) as server:
        check_all_answered(server)
