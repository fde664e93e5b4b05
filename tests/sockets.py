"""Inspect and control connections: queues, resets, ports."""

import array
import contextlib
import fcntl
import socket
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

from regatta.measure.network import ports
from tests.waiting import PATIENCE_S, wait_until

OWN_HOST = "127.0.0.5"
"""A loopback address of our own: parallel tests take no ports here, so a freed port stays free."""
SOCK_DIAG_BY_FAMILY = 20
NO_COOKIE = 0xFFFFFFFF


def free_port() -> int:
    """An unused port of no ephemeral range: no parallel test is given it meanwhile."""
    return ports.free_port("self")


def reset(connection: socket.socket) -> None:
    """Closes with RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def tcp_sockets() -> list[list[str]]:
    """Of IPv4: the rows of /proc/net/tcp."""
    return [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]


def in_state(port: int, state: str) -> int:
    """Number of IPv4 sockets of this port in a state, as in /proc/net/tcp."""
    return sum(row[1].endswith(f":{port:04X}") and row[3] == state for row in tcp_sockets())


def established(port: int) -> int:
    """Number of established connections to this port, accepted or still in the backlog."""
    return in_state(port, "01")


def is_listening(port: int) -> bool:
    return in_state(port, "0A") > 0


def wait_until_accepting(
    process: subprocess.Popen[bytes],
    port: int,
    host: str = "127.0.0.1",
    log: Callable[[], str] = lambda: "it does not listen",
) -> None:
    """The program may not end before. `log`: the failure message."""

    def accepts() -> bool:
        assert process.poll() is None, log()
        with socket.socket() as probe:
            return probe.connect_ex((host, port)) == 0

    wait_until(accepts, log)


@contextlib.contextmanager
def datagram_socket(name: str) -> Iterator[socket.socket]:
    """A UNIX datagram socket with this name."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(name)
        listening.settimeout(PATIENCE_S)
        yield listening


def datagram_sockets() -> set[str]:
    """UNIX datagram sockets of this host, named as in /proc/PID/fd."""
    rows = map(str.split, Path("/proc/net/unix").read_text().splitlines()[1:])
    return {f"socket:[{row[6]}]" for row in rows if int(row[4], 16) == socket.SOCK_DGRAM}


def unread_bytes(connection: socket.socket) -> int:
    """Bytes sent by this side (IPv4, same host) that the other side has not read yet."""
    address, port = connection.getpeername()
    own_address, own_port = connection.getsockname()
    # linux/inet_diag.h: the request names the peer's socket, the answer has its queue lengths.
    name = struct.pack(
        ">HH4s12x4s12x", port, own_port, *map(socket.inet_aton, (address, own_address))
    )
    wanted = struct.pack("=BBBxI", socket.AF_INET, socket.IPPROTO_TCP, 0, 0xFFFFFFFF)
    wanted += name + struct.pack("=III", 0, NO_COOKIE, NO_COOKIE)
    head = struct.pack("=IHHII", 16 + len(wanted), SOCK_DIAG_BY_FAMILY, 1, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 4) as diagnosis:
        diagnosis.send(head + wanted)
        answer = diagnosis.recv(8192)
    (kind,) = struct.unpack_from("=H", answer, 4)
    assert kind == SOCK_DIAG_BY_FAMILY, "the peer no longer has this connection"
    return int(struct.unpack_from("=I", answer, 72)[0])


def wait_until_read(connection: socket.socket) -> None:
    """Until the peer has read everything; it may not have acted on it yet."""
    wait_until(lambda: unread_bytes(connection) == 0, "the peer does not read what was sent")


def unacknowledged_bytes(connection: socket.socket) -> int:
    """Bytes sent by this side that the peer's kernel has not acknowledged yet."""
    left = array.array("i", [0])
    fcntl.ioctl(connection, termios.TIOCOUTQ, left)
    return left[0]


def wait_until_arrived(connection: socket.socket) -> None:
    """Until the peer's kernel has everything, read or not: only then is the request queued at the
    server."""
    wait_until(
        lambda: unacknowledged_bytes(connection) == 0,
        "the peer's kernel does not acknowledge what was sent",
    )
