"""A server on one host that accepts connections only from given addresses."""

from __future__ import annotations

import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress

from regatta.machine.sides.side_placement import SidePlacement

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
