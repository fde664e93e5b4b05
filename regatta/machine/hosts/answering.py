"""A port on one host that answers certain others alone, by an object that lives there."""

from __future__ import annotations

import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress

from regatta.machine.side_placement import SidePlacement

TIMEOUT_S = 10.0


class Answering(ABC):
    """One connection after the other, until it is left."""

    def __init__(self, where: SidePlacement, address: str, clients: Sequence[str]) -> None:
        """`address`: its own; `clients`: theirs."""
        del where
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.listener = socket.create_server((address, 0), family=family)
        self.clients = frozenset(clients)
        threading.Thread(target=self.serve, daemon=True).start()

    @abstractmethod
    def answer(self, connection: socket.socket) -> None:
        """All that one connection asks."""

    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, peer = self.listener.accept()
                with connection, suppress(OSError):
                    if peer[0] in self.clients:
                        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        connection.settimeout(TIMEOUT_S)
                        self.answer(connection)

    def leave(self) -> None:
        self.listener.close()


def connect(address: str, port: int) -> socket.socket:
    """To such a port."""
    there = socket.create_connection((address, port), TIMEOUT_S)
    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return there
