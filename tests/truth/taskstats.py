"""The kernel's per-thread accounting (taskstats): a record of each thread when it exits.

The kernel sends the record over generic netlink to the listeners of the thread's CPU. It is written
while the thread exits, before its memory is freed. Only root in the initial namespaces may listen.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regatta.errors import RegattaError

GENL_ID_CTRL = 16
CTRL_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 3, 1, 2
NLM_F_REQUEST, NLM_F_ACK = 1, 4
NLMSG_ERROR = 2
CMD_GET, ATTR_REGISTER_CPUMASK = 1, 3
TYPE_STATS, TYPE_AGGR_PID = 3, 4
ATTRIBUTE_MASK = 0x3FFF
SO_RCVBUFFORCE = 33
BUFFER_BYTES = 64 << 20
"""Room for the unread records of tens of thousands of threads."""
ANSWER_TIMEOUT_S = 5.0

HEADER = struct.Struct("=IHHII")
GENERIC = struct.Struct("=BBH")
ATTRIBUTE = struct.Struct("=HH")
# Of struct taskstats, which grows at its end (linux/taskstats.h).
RUN_NS_AT, PARENT_AT, FAULTS_AT, TGID_AT = 72, 132, 168, 368
TGID_SINCE = 12
MOVED = 15
"""This version (Linux 6.14) moved fields; version 16 moved them back."""


class TaskstatsError(RegattaError):
    """The kernel does not provide these accounts to us."""


@dataclass(frozen=True)
class Ended:
    """What one thread was charged in its whole life."""

    parent: int
    process: int
    run_ns: int
    page_faults: int


class Listener:
    """A context manager that receives the records of all threads that end while it is open."""

    def __init__(self) -> None:
        try:
            self._socket = socket.socket(
                socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 16
            )
        except OSError as error:
            raise TaskstatsError(f"no generic netlink here ({error})") from error
        try:
            self._socket.bind((0, 0))
            self._socket.settimeout(ANSWER_TIMEOUT_S)
            self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
            self._family = self._find_family()
            self._register()
            self._socket.setblocking(False)
        except OSError as error:
            self._socket.close()
            raise TaskstatsError(
                f"the kernel's per-thread accounting is not available ({error}); run as root of "
                "the host, on a kernel with CONFIG_TASKSTATS"
            ) from error

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def take(self) -> list[Ended]:
        """The records since the last call; TaskstatsError if the kernel dropped some."""
        found: list[Ended] = []
        while True:
            try:
                data = self._socket.recv(1 << 16)
            except BlockingIOError:
                return found
            except OSError as error:  # ENOBUFS
                raise TaskstatsError(
                    f"the kernel lost records of ended threads ({error})"
                ) from error
            for kind, payload in messages(data):
                if kind == self._family:
                    found += ended(payload)

    def _find_family(self) -> int:
        name = attribute(CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0")
        self._send(GENL_ID_CTRL, CTRL_GETFAMILY, name, NLM_F_REQUEST)
        for kind, payload in messages(self._socket.recv(1 << 16)):
            fail_on_error(kind, payload)
            for number, value in attributes(payload[GENERIC.size :]):
                if number == CTRL_ATTR_FAMILY_ID:
                    return int(struct.unpack_from("=H", value)[0])
        raise OSError("the kernel does not name its family")

    def _register(self) -> None:
        text = Path("/sys/devices/system/cpu/possible").read_text().strip()
        cpus = attribute(ATTR_REGISTER_CPUMASK, text.encode() + b"\0")
        self._send(self._family, CMD_GET, cpus, NLM_F_REQUEST | NLM_F_ACK)
        for kind, payload in messages(self._socket.recv(1 << 16)):
            fail_on_error(kind, payload)

    def _send(self, kind: int, command: int, payload: bytes, flags: int) -> None:
        body = GENERIC.pack(command, 1, 0) + payload
        self._socket.send(HEADER.pack(HEADER.size + len(body), kind, flags, 1, 0) + body)


def attribute(number: int, value: bytes) -> bytes:
    padding = -len(value) % 4
    return ATTRIBUTE.pack(ATTRIBUTE.size + len(value), number) + value + b"\0" * padding


def fail_on_error(kind: int, payload: bytes) -> None:
    if kind == NLMSG_ERROR:
        (code,) = struct.unpack_from("=i", payload)
        if code:
            raise OSError(-code, os.strerror(-code))


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and payload of each netlink message."""
    at = 0
    while at + HEADER.size <= len(data):
        length, kind, *_ = HEADER.unpack_from(data, at)
        if length < HEADER.size or at + length > len(data):
            raise OSError("the kernel's answer is cut short")
        yield kind, data[at + HEADER.size : at + length]
        at += (length + 3) & ~3


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and value of each attribute."""
    at = 0
    while at + ATTRIBUTE.size <= len(data):
        length, number = ATTRIBUTE.unpack_from(data, at)
        if length < ATTRIBUTE.size or at + length > len(data):
            raise OSError("the kernel's answer is cut short")
        yield number & ATTRIBUTE_MASK, data[at + ATTRIBUTE.size : at + length]
        at += (length + 3) & ~3


def ended(payload: bytes) -> list[Ended]:
    """The threads of one message, without its totals of processes."""
    return [
        parse(value)
        for outer, group in attributes(payload[GENERIC.size :])
        if outer == TYPE_AGGR_PID
        for inner, value in attributes(group)
        if inner == TYPE_STATS
    ]


def parse(stats: bytes) -> Ended:
    (version,) = struct.unpack_from("=H", stats)
    if version < TGID_SINCE or len(stats) < TGID_AT + 4:
        raise TaskstatsError(
            f"this kernel's per-thread accounts (version {version}) do not name the process; "
            "Linux 5.19 does"
        )
    if version == MOVED:
        raise TaskstatsError(
            f"this kernel's per-thread accounts (version {version}) have their fields elsewhere; "
            "Linux 6.16 put them back"
        )
    return Ended(
        parent=struct.unpack_from("=I", stats, PARENT_AT)[0],
        process=struct.unpack_from("=I", stats, TGID_AT)[0],
        run_ns=struct.unpack_from("=Q", stats, RUN_NS_AT)[0],
        page_faults=sum(struct.unpack_from("=QQ", stats, FAULTS_AT)),
    )
