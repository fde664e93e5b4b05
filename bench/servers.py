"""Ours and the peers: how each is started, known to be ready, and stopped.

Every server answers `stand.body` to its question. Ready means: the question was answered with it.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from string import Template
from typing import Protocol

from bench.paths import BUILT, HERE
from bench.stand import DESCRIPTORS, NO_PERF, Stand, free_port
from regatta.errors import TrialError
from regatta.machine import programs
from regatta.trial.side import STOP_TIMEOUT_S, Side

READY_TIMEOUT_S = 10
PATH = "/top?n=2"
HTTP_GET = f"GET {PATH} HTTP/1.1\r\nHost: bench\r\n\r\n".encode()
# Of redis and memcached.
KEY = "regatta"
# A snapshot is taken once: replies keep their length, by which get-client knows them.
UNCHANGING_MS = 24 * 3600 * 1000


class Server(Protocol):
    """One way to start a server. Two that are equal are the same server."""

    @property
    def name(self) -> str: ...

    @property
    def question(self) -> bytes:
        """One request for the body."""

    def preparation(self, stand: Stand) -> tuple[bytes, bytes]:
        """What a fresh server must be told first, and what it replies to that."""

    def check(self) -> None:
        """Raises an error that says what to install, if the program is missing."""

    def command(self, stand: Stand, port: int) -> list[str]: ...


class Http:
    """What the servers that speak HTTP have in common."""

    question = HTTP_GET

    def preparation(self, _: Stand) -> tuple[bytes, bytes]:
        return b"", b""

    def check(self) -> None:
        """Built with the project."""


@dataclass(frozen=True)
class Ours(Http):
    """regatta-server."""

    design: str
    work: str = "snapshot"
    deferred: bool = False
    source: str = "procfs"
    recorder: bool = False
    by_default: bool = False
    """Sandbox, recorder and source as they come where nobody asks for others."""

    @property
    def name(self) -> str:
        if self.by_default:
            return f"{self.design} as started by default"
        reading = "" if self.source == "procfs" else f", source {self.source}"
        scanning = "" if self.work == "snapshot" else f", work {self.work}"
        deferring = " with deferred accept" if self.deferred else ""
        return f"{self.design}{scanning}{deferring}{reading}"

    def command(self, stand: Stand, port: int) -> list[str]:
        program = str(programs.find("regatta-server"))
        command = [program, "--quiet", "--design", self.design, "--work", self.work]
        if self.work == "snapshot":
            command += ["--max-age", str(UNCHANGING_MS)]
        if self.deferred:
            command.append("--defer-accept")
        if not self.by_default:
            command += ["--source", self.source, "--sandbox", "off"]  # the peers have none
            command += [] if self.recorder else ["--no-recorder"]
        return [*command, *stand.place.access(), "--listen", f"{stand.host}:{port}"]


@dataclass(frozen=True)
class Twin(Http):
    """The bare server of the same strategy: it sends the same bytes, and there is nothing else."""

    design: str

    @property
    def name(self) -> str:
        return f"bare {self.design}"

    def command(self, stand: Stand, port: int) -> list[str]:
        head = (
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(stand.body)}\r\nDate: Sat, 21 Nov 2026 10:00:00 GMT\r\n\r\n"
        )
        reply = stand.write("reply", head.encode() + stand.body)
        return [str(BUILT / f"twin-{self.design}"), f"{stand.host}:{port}", reply]


@dataclass(frozen=True)
class Nginx(Http):
    """`deferred`: connections are accepted only with their first request (TCP_DEFER_ACCEPT)."""

    deferred: bool = True

    @property
    def name(self) -> str:
        return "nginx" if self.deferred else "nginx without deferred accept"

    def check(self) -> None:
        programs.need_tool("nginx", "nginx")

    def command(self, stand: Stand, port: int) -> list[str]:
        template = Template((HERE / "nginx.conf").read_text())
        text = template.substitute(
            folder=stand.folder,
            host=stand.host,
            port=port,
            body=stand.body.decode(),
            deferred="deferred" if self.deferred else "",
            descriptors=DESCRIPTORS,
        )
        path = stand.write("nginx.conf", text.encode())
        return [programs.need_tool("nginx", "nginx"), "-e", "stderr", "-c", path]


@dataclass(frozen=True)
class Redis:
    """Without all that it does beside answering: no persistence, no latency records, no log."""

    name = "redis-server"
    question = f"*2\r\n$3\r\nGET\r\n${len(KEY)}\r\n{KEY}\r\n".encode()

    def preparation(self, stand: Stand) -> tuple[bytes, bytes]:
        head = f"*3\r\n$3\r\nSET\r\n${len(KEY)}\r\n{KEY}\r\n${len(stand.body)}\r\n"
        return head.encode() + stand.body + b"\r\n", b"+OK\r\n"

    def check(self) -> None:
        programs.need_tool("redis-server", "redis-server")

    def command(self, stand: Stand, port: int) -> list[str]:
        command = [programs.need_tool("redis-server", "redis-server"), "--bind", stand.host]
        command += ["--port", str(port), "--protected-mode", "no", "--save", ""]
        command += ["--appendonly", "no", "--latency-tracking", "no"]
        return [*command, "--slowlog-log-slower-than", "-1", "--loglevel", "warning"]


@dataclass(frozen=True)
class Memcached:
    """With one thread that serves; its others sleep."""

    name = "memcached"
    question = f"get {KEY}\r\n".encode()

    def preparation(self, stand: Stand) -> tuple[bytes, bytes]:
        head = f"set {KEY} 0 0 {len(stand.body)}\r\n"
        return head.encode() + stand.body + b"\r\n", b"STORED\r\n"

    def check(self) -> None:
        programs.need_tool("memcached", "memcached")

    def command(self, stand: Stand, port: int) -> list[str]:
        command = [programs.need_tool("memcached", "memcached"), "-u", "root", "-t", "1"]
        return [*command, "-U", "0", "-c", "10500", "-l", stand.host, "-p", str(port)]


@dataclass(frozen=True)
class Serving:
    """A server that is ready. `reply` is its reply to its question."""

    side: Side
    pid: int
    target: str
    port: int
    reply: bytes


def first_answer(stand: Stand, server: Server, side: Side, port: int) -> bytes:
    """Asks until somebody listens; each attempt is a process of its own, and takes its time."""
    prepare, prepared = server.preparation(stand)
    deadline = time.monotonic() + READY_TIMEOUT_S
    assert side.process
    while True:
        reply = stand.ask(port, prepare + server.question)
        if reply is not None and reply.startswith(prepared):
            return reply.removeprefix(prepared)
        if reply is not None:
            raise TrialError(f"{server.name} was told {prepare[:20]!r} and said {reply[:80]!r}")
        if side.process.poll() is not None:
            raise side.failure(f"{server.name} ended at once")
        if time.monotonic() > deadline:
            raise side.failure(f"{server.name} did not listen within {READY_TIMEOUT_S} s")


@contextmanager
def serving(stand: Stand, server: Server, side_name: str = "server") -> Iterator[Serving]:
    """A fresh server for one trial; it must end well when told to.

    `side_name`: of the files that it writes, where several are up at once.
    """
    port = free_port(stand.host)
    with Side(side_name, stand.folder, accounted=True) as side:
        side.start(stand.place.server, server.command(stand, port), NO_PERF, ())
        pid = side.find_program()
        reply = first_answer(stand, server, side, port)
        expected = stand.body if not isinstance(server, Ours) else b" 200 OK\r\n"
        if expected not in reply:
            raise TrialError(f"{server.name} answered something else: {reply[:80]!r}")
        yield Serving(side, pid, f"{stand.host}:{port}", port, reply)
        assert side.pidfd is not None
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(side.pidfd, signal.SIGTERM)
        status = side.wait(STOP_TIMEOUT_S)
        if status not in (0, -signal.SIGTERM):
            raise side.failure(f"{server.name} left with exit status {status}")


def sample_body(stand: Stand) -> bytes:
    """The size of a body of ours, in letters that every peer's configuration can hold."""
    with serving(stand, Ours("select")) as started:
        body = started.reply.partition(b"\r\n\r\n")[2]
    return re.sub(rb"[^A-Za-z0-9_. \n]", b"x", body)
