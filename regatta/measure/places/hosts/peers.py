"""Between two hosts: a server for known addresses, and the clock of the server's host."""

from __future__ import annotations

import socket
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress

from regatta.errors import PlacementError
from regatta.measure.places.side import SidePlacement
from regatta.measure.places.sides import ClockExchange, ClockOffset, offset_of

TIMEOUT_S = 10.0


class PeerServer(ABC):
    """Serves one connection after another until `leave`."""

    def __init__(self, where: SidePlacement, address: str, clients: Sequence[str]) -> None:
        """`address`: to listen on; `clients`: the addresses that may connect."""
        del where
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.listener = socket.create_server((address, 0), family=family)
        self.clients = frozenset(clients)
        threading.Thread(target=self.serve, daemon=True).start()

    @abstractmethod
    def answer(self, connection: socket.socket) -> None:
        """Serves one connection to its end."""

    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                try:
                    connection, peer = self.listener.accept()
                except ConnectionAbortedError:
                    continue
                with connection, suppress(OSError):
                    if peer[0] in self.clients:
                        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        connection.settimeout(TIMEOUT_S)
                        self.answer(connection)

    def leave(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
        self.listener.close()


def connect(address: str, port: int) -> socket.socket:
    """Connects to a PeerServer."""
    connection = socket.create_connection((address, port), TIMEOUT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


EXCHANGES = 20
QUESTION = b"?"
REPLY = struct.Struct("!qq")
"""When the question arrived and when the reply left, in ns of CLOCK_MONOTONIC."""


class ClockServer(PeerServer):
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
