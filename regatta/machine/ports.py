"""The ports of a network, read from outside: no process has to enter, no connection is wasted.

A network is named by a process within it, or by `self`.
"""

import random
from contextlib import suppress
from pathlib import Path

PORTS = range(10_000, 32_000)
LISTEN = "0A"  # the state in /proc/net/tcp


def free_port(network: int | str) -> int:
    """One that nobody uses, below those the kernel gives out."""
    used = {port for port, _ in sockets(network)}
    return random.choice([port for port in PORTS if port not in used])


def listens(network: int | str, port: int) -> bool:
    """True if connections to that port are accepted."""
    return (port, LISTEN) in sockets(network)


def sockets(network: int | str) -> set[tuple[int, str]]:
    """Local port and state of every TCP socket."""
    found: set[tuple[int, str]] = set()
    for table in ("tcp", "tcp6"):
        with suppress(FileNotFoundError):
            for line in Path(f"/proc/{network}/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                found.add((int(fields[1].rpartition(":")[2], 16), fields[3]))
    return found
