"""Between two hosts: a server for known addresses, the clock of the server's host, the network."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from regatta.errors import PlacementError
from regatta.measure.network.link_end import OFFLOADS, mtu, offload, read_end
from regatta.measure.network.veth import run_tool
from regatta.measure.places.side import SidePlacement
from regatta.measure.places.sides import ClockExchange, ClockOffset, offset_of
from regatta.measure.programs import need_tool

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


def end_towards(there: str) -> dict[str, Any]:
    """The device through which packets go to that host."""
    ip = need_tool("ip", "iproute2")
    (route,) = json.loads(run_tool([ip, "-j", "route", "get", there]))
    return read_end(route["dev"])


# The network path between two hosts: an echo server on one, a client on the other.

ROUNDS = 1000
FLOOD_S = 0.5
FLOOD, ECHO = b"f", b"e"
PIECE = bytes(1 << 16)


class Echo(PeerServer):
    """Echoes every byte, or receives everything and reports how much that was."""

    def answer(self, connection: socket.socket) -> None:
        if connection.recv(1) == FLOOD:
            taken = 0
            while piece := connection.recv(len(PIECE)):
                taken += len(piece)
            connection.sendall(str(taken).encode())
            return
        while piece := connection.recv(1):
            connection.sendall(piece)


@dataclass(frozen=True)
class PathFound:
    """The path as a client sees it."""

    p50_us: float
    p99_us: float
    bits_per_s: float


def ask_path(address: str, port: int) -> PathFound:
    """Measures round trips and throughput; takes a few seconds at most."""
    with connect(address, port) as there:
        there.sendall(ECHO)
        trips = sorted(round_trip_ns(there) for _ in range(ROUNDS))
    with connect(address, port) as there:
        there.sendall(FLOOD)
        began_ns = time.monotonic_ns()
        while time.monotonic_ns() - began_ns < FLOOD_S * 1e9:
            there.sendall(PIECE)
        there.shutdown(socket.SHUT_WR)
        taken = int(there.recv(64))
        flooded_ns = time.monotonic_ns() - began_ns
    return PathFound(
        p50_us=trips[ROUNDS // 2] / 1000,
        p99_us=trips[ROUNDS * 99 // 100] / 1000,
        bits_per_s=taken * 8e9 / flooded_ns,
    )


def round_trip_ns(there: socket.socket) -> int:
    began_ns = time.monotonic_ns()
    there.sendall(ECHO)
    there.recv(1)
    return time.monotonic_ns() - began_ns


@dataclass(frozen=True)
class EndFound:
    """The device through which packets leave a host."""

    device: str
    cable: str | None
    mtu: int
    offloads: dict[str, bool | None]
    """GRO, TSO and GSO: whether each is on; None: unknown."""


def ask_end(there: str) -> EndFound:
    end = end_towards(there)
    device = end["device"]
    offloads = {name: offload(device, name) for name in OFFLOADS}
    return EndFound(device, end["cable"], mtu(device), offloads)
