"""The clock of the server's host, told to clients on other hosts by the way that requests take."""

from __future__ import annotations

import socket
import struct
import time

from regatta.errors import PlacementError
from regatta.machine.clocks import Asked, Offset, offset_of
from regatta.machine.hosts.answering import Answering, connect

ASKS = 20
QUESTION = b"?"
TOLD = struct.Struct("!qq")
"""When it was asked and when it answered, in ns of CLOCK_MONOTONIC."""


class Clock(Answering):
    """Tells the time."""

    def answer(self, connection: socket.socket) -> None:
        while connection.recv(1):
            came_ns = time.monotonic_ns()
            connection.sendall(TOLD.pack(came_ns, time.monotonic_ns()))


def ask_clock(address: str, port: int) -> Offset:
    """Of this host's clock against the one that is told there."""
    try:
        with connect(address, port) as there:
            return offset_of([ask(there) for _ in range(ASKS)])
    except (OSError, struct.error) as error:
        raise PlacementError(f"the clock at {address} does not answer: {error}") from error


def ask(there: socket.socket) -> Asked:
    sent_ns = time.monotonic_ns()
    there.sendall(QUESTION)
    told = there.recv(TOLD.size, socket.MSG_WAITALL)
    back_ns = time.monotonic_ns()
    came_ns, left_ns = TOLD.unpack(told)
    return Asked(sent_ns, came_ns, left_ns, back_ns)
