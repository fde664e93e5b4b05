"""Measures the network path between two hosts: an echo server on one, a client on the other."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass

from regatta.measure.network.link_end import OFFLOADS, mtu, offload
from regatta.measure.places.hosts.peers import PeerServer, connect
from regatta.measure.places.hosts.placement import end_towards

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
