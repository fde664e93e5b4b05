"""Serves the clock of the server's host to clients on other hosts, over the race's own network."""

from __future__ import annotations

import socket
import struct
import time

from regatta.errors import PlacementError
from regatta.machine.hosts.peer_server import PeerServer, connect
from regatta.machine.sides.clock_offset import ClockExchange, ClockOffset, offset_of

EXCHANGES = 20
QUESTION = b"?"
REPLY = struct.Struct("!qq")
"""When the question arrived and when the reply left, in ns of CLOCK_MONOTONIC."""


class Clock(PeerServer):
    """Answers each question with its clock."""

    def answer(self, connection: socket.socket) -> None:
        while connection.recv(1):
            came_ns = time.monotonic_ns()
            connection.sendall(REPLY.pack(came_ns, time.monotonic_ns()))


def ask_clock(address: str, port: int) -> ClockOffset:
    """The offset of this host's clock from the one served there."""
    try:
        with connect(address, port) as connection:
            return offset_of([ask(connection) for _ in range(EXCHANGES)])
    except (OSError, struct.error) as error:
        raise PlacementError(f"the clock at {address} does not answer: {error}") from error


def ask(connection: socket.socket) -> ClockExchange:
    sent_ns = time.monotonic_ns()
    connection.sendall(QUESTION)
    reply = connection.recv(REPLY.size, socket.MSG_WAITALL)
    back_ns = time.monotonic_ns()
    came_ns, left_ns = REPLY.unpack(reply)
    return ClockExchange(sent_ns, came_ns, left_ns, back_ns)
