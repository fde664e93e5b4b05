"""What a test asks of the kernel about a connection, and does to one."""

import array
import fcntl
import socket
import struct
import termios
from pathlib import Path

from tests.waiting import wait_until

OWN_HOST = "127.0.0.5"
"""Where a port that a test has let go of is still free for it: others take theirs of 127.0.0.1."""
SOCK_DIAG_BY_FAMILY = 20
NO_COOKIE = 0xFFFFFFFF


def free_port(host: str = "127.0.0.1") -> int:
    """One of this address that nobody has just now."""
    with socket.create_server((host, 0)) as listener:
        return int(listener.getsockname()[1])


def reset(connection: socket.socket) -> None:
    """Closes with a reset in place of an end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def established(port: int) -> int:
    """Connections of IPv4 that lead to this port and are open, whether accepted yet or not."""
    rows = map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


def datagram_sockets() -> set[str]:
    """The UNIX ones of this host, as a process's descriptors name them."""
    rows = map(str.split, Path("/proc/net/unix").read_text().splitlines()[1:])
    return {f"socket:[{row[6]}]" for row in rows if int(row[4], 16) == socket.SOCK_DGRAM}


def unread_bytes(connection: socket.socket) -> int:
    """Bytes that this side (IPv4, same host) has sent and the other has not read yet."""
    address, port = connection.getpeername()
    own_address, own_port = connection.getsockname()
    # linux/inet_diag.h: the request names the other side's socket, the answer has its queues.
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
    assert kind == SOCK_DIAG_BY_FAMILY, "the other side has no such connection any more"
    return int(struct.unpack_from("=I", answer, 72)[0])


def wait_until_read(connection: socket.socket) -> None:
    """Until the other side has read all that was sent; it may not have acted on it yet."""
    wait_until(lambda: unread_bytes(connection) == 0, "what was sent is not read")


def unacknowledged_bytes(connection: socket.socket) -> int:
    """Bytes that this side has sent and the other side's kernel has not taken yet."""
    left = array.array("i", [0])
    fcntl.ioctl(connection, termios.TIOCOUTQ, left)
    return left[0]


def wait_until_arrived(connection: socket.socket) -> None:
    """Until the other side's kernel has all that was sent, read or not: only then has a server been
    asked, in whatever queue the client stands."""
    wait_until(lambda: unacknowledged_bytes(connection) == 0, "what was sent does not arrive")
