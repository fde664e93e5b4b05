"""Between two hosts: the clock of the server's host, the round trips, and the devices."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from regatta.errors import PlacementError
from regatta.measure.network.link_end import OFFLOADS, mtu, offload, read_end
from regatta.measure.network.veth import run_tool
from regatta.measure.places.sides import ClockOffset
from regatta.measure.programs import need_tool

TIMEOUT_S = 10.0
EXCHANGES, MANY_EXCHANGES = 20, 1000
QUESTION = b"?"
REPLY = struct.Struct("!qq")
"""When the question arrived and when the reply left, in ns of CLOCK_MONOTONIC."""


class ClockServer:
    """Answers each question with its clock, one connection after another, until `leave`."""

    def __init__(self, address: str, clients: Sequence[str]) -> None:
        """`address`: to listen on; `clients`: the addresses that may connect."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.listener = socket.create_server((address, 0), family=family)
        self.clients = frozenset(clients)
        threading.Thread(target=self.serve, daemon=True).start()

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
                        answer(connection)

    def leave(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
        self.listener.close()


def answer(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.settimeout(TIMEOUT_S)
    while connection.recv(1):
        came_ns = time.monotonic_ns()
        connection.sendall(REPLY.pack(came_ns, time.monotonic_ns()))


def ask_clock(address: str, port: int) -> ClockOffset:
    """The offset of this host's clock from the one served there, by the fastest of several round
    trips."""
    return fastest(round_trips(address, port, EXCHANGES))


def fastest(trips: Iterable[ClockOffset]) -> ClockOffset:
    return min(trips, key=lambda trip: trip.bound_ns)


def round_trips(address: str, port: int, count: int) -> list[ClockOffset]:
    """One after another; PlacementError if there is no answer."""
    try:
        with socket.create_connection((address, port), TIMEOUT_S) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return [ask(connection) for _ in range(count)]
    except (OSError, struct.error) as error:
        raise PlacementError(f"the clock at {address} does not answer: {error}") from error


def ask(connection: socket.socket) -> ClockOffset:
    sent_ns = time.monotonic_ns()
    connection.sendall(QUESTION)
    reply = connection.recv(REPLY.size, socket.MSG_WAITALL)
    back_ns = time.monotonic_ns()
    came_ns, left_ns = REPLY.unpack(reply)
    return offset_of(sent_ns, came_ns, left_ns, back_ns)


def offset_of(sent_ns: int, came_ns: int, left_ns: int, back_ns: int) -> ClockOffset:
    """As in NTP; the first and last are by the local clock, the others by the remote one.

    CLOCK_MONOTONIC starts at a different moment on every host. The error is at most half the time
    that both messages spent on the way.
    """
    ahead_ns = (sent_ns - came_ns) + (back_ns - left_ns)
    way_ns = (back_ns - sent_ns) - (left_ns - came_ns)
    return ClockOffset(ahead_ns // 2, (way_ns + 1) // 2)


@dataclass(frozen=True)
class PathFound:
    """The network path to a ClockServer, as a client sees it: round trips."""

    p50_us: float
    p99_us: float


def ask_path(address: str, port: int) -> PathFound:
    trips = sorted(2 * trip.bound_ns for trip in round_trips(address, port, MANY_EXCHANGES))
    p50, p99 = (trips[len(trips) * percent // 100] / 1000 for percent in (50, 99))
    return PathFound(p50, p99)


def end_towards(there: str) -> dict[str, Any]:
    """The device through which packets go to that host."""
    ip = need_tool("ip", "iproute2")
    (route,) = json.loads(run_tool([ip, "-j", "route", "get", there]))
    return read_end(route["dev"])


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
