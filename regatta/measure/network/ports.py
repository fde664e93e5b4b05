"""The ports of a network, read through /proc: no process has to enter, no connection is needed.

A network is named by the id of a process within it, or by `self`.
"""

import random
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from regatta.measure.processes import PARENT, read_stat

PORTS = range(10_000, 32_000)
ESTABLISHED, LISTEN = "01", "0A"  # states in /proc/net/tcp
IPV6_LOOPBACK = "0" * 24 + "01000000"
LOOPBACK_ENDS = ("7F", IPV6_LOOPBACK)
"""Of 127.0.0.0/8, also within IPv6, and of ::1: each word of an address has its last byte first."""


def free_port(network: int | str) -> int:
    """An unused port below the kernel's ephemeral range."""
    used = {port for _, port, _, _ in rows(network)}
    return random.choice([port for port in PORTS if port not in used])


def listening_at(network: int | str, port: int) -> list[str]:
    """The addresses at which the port is open, in the kernel's form."""
    return [host for host, at, state, _ in rows(network) if (at, state) == (port, LISTEN)]


def are_loopback(hosts: Sequence[str]) -> bool:
    """True if no other network can reach any of these addresses."""
    return bool(hosts) and all(host.endswith(LOOPBACK_ENDS) for host in hosts)


def ports_of(pid: int, state: str) -> list[int]:
    """The local port of each socket in this state that a process holds, in its own network."""
    inodes = sockets_of(pid)
    return [port for _, port, found, inode in rows(pid) if found == state and inode in inodes]


def sockets_of(pid: int) -> set[str]:
    """Their inodes; none of a process that has ended or may not be looked at."""
    found = set()
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.add(str(link.readlink()).removeprefix("socket:[").removesuffix("]"))
    return found


def is_here(host: str) -> bool:
    """Whether a name or address is one of this host's."""
    with suppress(OSError):
        family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            probe.bind(address)
        return True
    return False


def listener(host: str, port: int) -> int | None:
    """The process that listens at an address of this network, and whose descendants may; None if
    there is none that may be looked at, or several. Process 1 only passes sockets on."""
    open_at = [
        (at, inode) for at, of, state, inode in rows("self") if (of, state) == (port, LISTEN)
    ]
    asked = kernel_form(host)
    exact = {inode for at, inode in open_at if at == asked}
    inodes = exact or {inode for at, inode in open_at if not at.strip("0")}
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    holders = {pid for pid in pids if inodes & sockets_of(pid)}
    roots = [pid for pid in holders if parent_of(pid) not in holders]
    return roots[0] if len(roots) == 1 and roots[0] != 1 else None


def kernel_form(host: str) -> str:
    """An address as /proc/net/tcp has it: each of its words has its last byte first."""
    family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    packed = socket.inet_pton(family, str(address[0]))
    words = [packed[at : at + 4][::-1] for at in range(0, len(packed), 4)]
    return b"".join(words).hex().upper()


def parent_of(pid: int) -> int:
    """0: it has ended."""
    with suppress(OSError, ValueError):
        return read_stat(pid)[PARENT]
    return 0


def rows(network: int | str) -> Iterator[tuple[str, int, str, str]]:
    """Local address in the kernel's form, port, state and inode of every TCP socket."""
    for table in ("tcp", "tcp6"):
        with suppress(FileNotFoundError):
            for line in Path(f"/proc/{network}/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                host, _, port = fields[1].rpartition(":")
                yield host, int(port, 16), fields[3], fields[9]
