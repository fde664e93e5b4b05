"""Our server and its peers: how each is started, checked and stopped.

Every server answers its request with `testbed.body`; it is ready when it has done so once.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.paths import BUILT, NGINX_CONF
from bench.testbed import NO_PERF, Figures, Testbed
from regatta.errors import TrialError
from regatta.measure import programs
from regatta.measure.network import ports
from regatta.measure.trial.side import Side

PATH = "/top?n=2"
HTTP_GET = f"GET {PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
# The key for redis and memcached.
KEY = "regatta"
# One snapshot for all replies, so that they keep their length, by which get-client delimits them.
UNCHANGING_MS = 24 * 3600 * 1000


class Server(ABC):
    """One way to start a server. Equal objects are the same server."""

    question = HTTP_GET
    """One request for the body."""
    program: str | None = None
    """A program whose package has the same name; None: built with the project."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in the tables."""

    @abstractmethod
    def command(self, testbed: Testbed, port: int) -> list[str]:
        """The command that starts it, listening on that port."""

    def preparation(self, _: Testbed) -> tuple[bytes, bytes]:
        """The request that a fresh server needs first, and its reply."""
        return b"", b""

    def check(self) -> None:
        """UsageError with the package to install if the program is missing."""
        if self.program is not None:
            programs.need_tool(self.program, self.program)


@dataclass(frozen=True)
class Ours(Server):
    """regatta-server."""

    design: str
    work: str = "snapshot"
    deferred: bool = False
    source: str = "procfs"
    recorder: bool = False
    by_default: bool = False
    """Leave sandbox, recorder and source at their defaults."""

    @property
    def name(self) -> str:
        if self.by_default:
            return f"{self.design} as started by default"
        reading = "" if self.source == "procfs" else f", source {self.source}"
        scanning = "" if self.work == "snapshot" else f", work {self.work}"
        deferring = " with deferred accept" if self.deferred else ""
        return f"{self.design}{scanning}{deferring}{reading}"

    def command(self, testbed: Testbed, port: int) -> list[str]:
        program = str(programs.find("regatta-server"))
        command = [program, "--quiet", "--design", self.design, "--work", self.work]
        if self.work == "snapshot":
            command += ["--max-age", str(UNCHANGING_MS)]
        if self.deferred:
            command.append("--defer-accept")
        if not self.by_default:
            command += ["--source", self.source, "--sandbox", "off"]  # the peers have none
            command += [] if self.recorder else ["--no-recorder"]
        return [*command, *testbed.placement.access(), "--listen", f"{testbed.host}:{port}"]


@dataclass(frozen=True)
class Twin(Server):
    """A design's twin, with a reply of the same bytes."""

    design: str

    @property
    def name(self) -> str:
        return f"bare {self.design}"

    def command(self, testbed: Testbed, port: int) -> list[str]:
        head = (
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(testbed.body)}\r\nDate: Sat, 21 Nov 2026 10:00:00 GMT\r\n\r\n"
        )
        reply = testbed.write("reply", head.encode() + testbed.body)
        return [str(BUILT / f"twin-{self.design}"), f"{testbed.host}:{port}", reply]


@dataclass(frozen=True)
class Nginx(Server):
    """`deferred`: accept a connection only when its first request arrives (TCP_DEFER_ACCEPT)."""

    deferred: bool = True
    program = "nginx"

    @property
    def name(self) -> str:
        return "nginx" if self.deferred else "nginx without deferred accept"

    def command(self, testbed: Testbed, port: int) -> list[str]:
        """With the configuration of contenders/nginx and our body."""
        text = NGINX_CONF.read_text()
        deferred = " deferred" if self.deferred else ""
        text = text.replace("LISTEN", f"{testbed.host}:{port}{deferred}")
        text = re.sub('return 200 ".*"', f'return 200 "{testbed.body.decode()}"', text)
        # As the user who runs the bench: a user namespace has no other users.
        path = testbed.write("nginx.conf", f"user root root;\n{text}".encode())
        nginx = programs.need_tool("nginx", "nginx")
        return [nginx, "-p", str(testbed.folder), "-e", "stderr", "-c", path]


@dataclass(frozen=True)
class Redis(Server):
    """Only answers: no persistence, no latency records, no log."""

    name = "redis-server"
    program = "redis-server"
    question = f"*2\r\n$3\r\nGET\r\n${len(KEY)}\r\n{KEY}\r\n".encode()

    def preparation(self, testbed: Testbed) -> tuple[bytes, bytes]:
        head = f"*3\r\n$3\r\nSET\r\n${len(KEY)}\r\n{KEY}\r\n${len(testbed.body)}\r\n"
        return head.encode() + testbed.body + b"\r\n", b"+OK\r\n"

    def command(self, testbed: Testbed, port: int) -> list[str]:
        command = [programs.need_tool("redis-server", "redis-server"), "--bind", testbed.host]
        command += ["--port", str(port), "--protected-mode", "no", "--save", ""]
        command += ["--appendonly", "no", "--latency-tracking", "no"]
        return [*command, "--slowlog-log-slower-than", "-1", "--loglevel", "warning"]


@dataclass(frozen=True)
class Memcached(Server):
    """With one serving thread; its other threads sleep."""

    name = "memcached"
    program = "memcached"
    question = f"get {KEY}\r\n".encode()

    def preparation(self, testbed: Testbed) -> tuple[bytes, bytes]:
        head = f"set {KEY} 0 0 {len(testbed.body)}\r\n"
        return head.encode() + testbed.body + b"\r\n", b"STORED\r\n"

    def command(self, testbed: Testbed, port: int) -> list[str]:
        command = [programs.need_tool("memcached", "memcached"), "-u", "root", "-t", "1"]
        return [*command, "-U", "0", "-c", "10500", "-l", testbed.host, "-p", str(port)]


@dataclass(frozen=True)
class Serving:
    """A server that is ready. `reply`: what it answers to its request."""

    side: Side
    pid: int
    target: str
    port: int
    reply: bytes


class Load(ABC):
    """One way to drive a server. Equal objects are the same load."""

    program: str | None = None
    package: str = ""
    """The client's package; without a program, the client is built with the project."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in the tables."""

    def check(self) -> None:
        """UsageError with the package to install if the client is missing."""
        if self.program is not None:
            programs.need_tool(self.program, self.package)

    def lack(self) -> str | None:
        """Why its rows are left out here; None if they are not."""
        return None

    @abstractmethod
    def run(self, testbed: Testbed, server: Server, serving: Serving) -> Figures:
        """Drives the server once; returns the figures by name."""


def first_reply(testbed: Testbed, server: Server, port: int) -> bytes:
    prepare, prepared = server.preparation(testbed)
    reply = testbed.ask(port, prepare + server.question)
    if not reply.startswith(prepared):
        raise TrialError(f"{server.name} replied {reply[:80]!r} to {prepare[:20]!r}")
    reply = reply.removeprefix(prepared)
    if (b" 200 OK\r\n" if isinstance(server, Ours) else testbed.body) not in reply:
        raise TrialError(f"{server.name} gave an unexpected reply: {reply[:80]!r}")
    return reply


@contextmanager
def serving(testbed: Testbed, server: Server, side_name: str = "server") -> Iterator[Serving]:
    """A fresh server for one trial; it must stop cleanly at the end.

    `side_name`: names its files, where several servers run at once.
    """
    network = testbed.placement.network_of
    port = ports.free_port(network)
    with Side(testbed.placement.server, side_name, testbed.folder, accounted=True) as side:
        side.start(server.command(testbed, port), NO_PERF, ())
        side.wait_listening(network, port)
        assert side.pid is not None
        pid = side.pid
        reply = first_reply(testbed, server, port)
        yield Serving(side, pid, f"{testbed.host}:{port}", port, reply)
        side.stop(may_die=True)


def sample_body(testbed: Testbed) -> bytes:
    """One of our bodies, with every character replaced that a peer's configuration cannot hold."""
    with serving(testbed, Ours("select")) as started:
        body = started.reply.partition(b"\r\n\r\n")[2]
    return re.sub(rb"[^A-Za-z0-9_. \n]", b"x", body)
