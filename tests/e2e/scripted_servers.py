"""Scripted servers, and running the client against them."""

import contextlib
import json
import re
import socket
import struct
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tests.commands import Done, assert_refused, run, run_well
from tests.servers import RunningServer, program
from tests.waiting import PATIENCE_S, wait_until

ENGINES = ["epoll", "thread", "fork"]
DIALECTS = ["line", "http"]

TITLE = b"rank pid user_seconds system_seconds name\n"
ROWS = b"1 4242 12.340000 1.250000 postgres: writer\n2 7 0.500000 0.250000 sh\n"
LINE_REPLY = TITLE + ROWS + b"\n"


def http(body: bytes, status: bytes = b"200 OK", headers: bytes = b"") -> bytes:
    length = str(len(body)).encode()
    return b"HTTP/1.1 %s\r\n%sContent-Length: %s\r\n\r\n%s" % (status, headers, length, body)


REPLIES = {"line": LINE_REPLY, "http": http(TITLE + ROWS)}
OK = http(b"ok")
BODY = b"hello " * 500
CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
TO_END = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + BODY
CLOSED = "--load closed --duration 0.2"


# Servers


def read_request(connection: socket.socket) -> bytes:
    """Reads one request of either dialect; b"" if the client has closed."""
    request = b""
    while not request.endswith(b"\r\n\r\n") and not re.fullmatch(rb"top \d+\n", request):
        more = connection.recv(4096)
        if not more:
            return b""
        request += more
    return request


def address_of(listener: socket.socket) -> str:
    return f"127.0.0.1:{listener.getsockname()[1]}"


@contextlib.contextmanager
def refusing_port() -> Iterator[str]:
    """An address that refuses connections and that no other program can use meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield address_of(bound)


Handler = Callable[[socket.socket, int], None]
"""Handles one connection, given its number from 0."""


class Scripted:
    """A server on loopback that handles each connection in its own thread."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.address = address_of(self.listener)
        self.accepted = 0
        self.requests: list[int] = []
        self._over = threading.Event()
        self._handlers: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            number = self.accepted
            self.accepted += 1
            handler = threading.Thread(target=self._handle, args=(connection, number), daemon=True)
            self._handlers.append(handler)
            handler.start()

    def _handle(self, connection: socket.socket, number: int) -> None:
        # The client may close at any time.
        with connection, contextlib.suppress(OSError):
            connection.settimeout(PATIENCE_S)
            self.handler(connection, number)

    def wait_for(self, connections: int) -> None:
        """Waits until `connections` have been accepted in total."""
        wait_until(lambda: self.accepted >= connections, f"fewer than {connections} connections")

    def hold(self) -> None:
        """Blocks until the end of the test."""
        self._over.wait(PATIENCE_S)

    def close(self) -> None:
        self._over.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        # Records of the handlers are complete only after they have seen their client close.
        for thread in (self._accepting, *self._handlers):
            thread.join(PATIENCE_S)
            assert not thread.is_alive(), "a handler has not ended"


@contextlib.contextmanager
def serving(handler: Handler) -> Iterator[Scripted]:
    server = Scripted(handler)
    try:
        yield server
    finally:
        server.close()


def once(reply: bytes | Callable[[int], bytes], seen: list[bytes] | None = None) -> Handler:
    """Reads a request into `seen`, sends a reply, which may depend on the connection's number, and
    closes."""

    def handler(connection: socket.socket, number: int) -> None:
        if request := read_request(connection):
            if seen is not None:
                seen.append(request)
            connection.sendall(reply if isinstance(reply, bytes) else reply(number))

    return handler


def always(
    reply: bytes | Callable[[int], bytes],
    counts: dict[int, int] | None = None,
    pause_s: float = 0,
) -> Handler:
    """Answers each request after a pause, until the client closes. The reply may depend on the
    request's number on its connection; `counts` gets the number of requests by connection."""

    def handler(connection: socket.socket, number: int) -> None:
        asked = 0
        while read_request(connection):
            if counts is not None:
                counts[number] = asked + 1
            time.sleep(pause_s)
            connection.sendall(reply if isinstance(reply, bytes) else reply(asked))
            asked += 1

    return handler


def by_number(*handlers: Handler) -> Handler:
    """The first connections have handlers of their own, all others the last one."""
    last = len(handlers) - 1
    return lambda connection, number: handlers[min(number, last)](connection, number)


def silent(connection: socket.socket, _number: int) -> None:
    """Reads, and never replies."""
    while connection.recv(4096):
        pass


def answering_lines(
    reply: bytes, seen: list[bytes] | None = None, *, closes: bool = False
) -> Handler:
    def handler(connection: socket.socket, _number: int) -> None:
        with connection.makefile("rb") as lines:
            for line in lines:
                if seen is not None:
                    seen.append(line)
                connection.sendall(reply)
                if closes:
                    return

    return handler


def read_head(file: BinaryIO) -> tuple[bytes, int]:
    """The head of a request, empty at the end of the connection, and the length of its body."""
    head = line = file.readline()
    while line.strip():
        head += (line := file.readline())
    said = re.search(rb"\r\nContent-Length: (\d+)", head)
    return head, int(said[1]) if said else 0


def answering_first(taken: list[bytes], reply: bytes = OK, closes: bool = False) -> Handler:
    """Answers each upload when its head has come, then reads it, or closes the connection."""

    def handler(connection: socket.socket, _number: int) -> None:
        with connection.makefile("rb") as file:
            while (found := read_head(file))[0]:
                taken.append(found[0].splitlines()[0])
                connection.sendall(reply)
                if closes:
                    return
                file.read(found[1])

    return handler


def asking(method: str, body: str = "", status: str = "200") -> dict[str, str]:
    return {"asked": rf"1:{status} {method} / HTTP/1.1\r\n\r\n{body}" + "\n"}


def expected(body: bytes = BODY, status: int = 200) -> str:
    return f"{status} {len(body)} {len(body)} {zlib.crc32(body):08x}\n"


# Running the client


def client(*options: str, **settings: Any) -> Done:
    return run(program("regatta-client"), *options, **settings)


def begin_client(*options: str, **settings: Any) -> subprocess.Popen[bytes]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([program("regatta-client"), *options], **{**pipes, **settings})


def refusal(*options: str, status: int = 2, **settings: Any) -> str:
    """The error line of a client that refuses to start."""
    done = client(*options, **settings)
    assert_refused(done, status, "regatta-client")
    return done.stderr


def shown_by(*options: str, **settings: Any) -> str:
    """Output of a successful load."""
    return run_well(program("regatta-client"), *options, **settings)


def result_of(
    server: Scripted | RunningServer | str,
    options: str = "",
    engine: str = "epoll",
    dialect: str = "line",
) -> tuple[dict[str, Any], int]:
    """The JSON result and exit status of a load. A failed load must print one line on stderr.

    server: a server or an address. options: as on a command line."""
    how = ("--engine", engine, "--dialect", dialect, *options.split())
    finished = client("--json", *how, getattr(server, "address", server))
    if finished.returncode == 0:
        assert finished.stderr == ""
    else:
        assert finished.stderr.startswith("regatta-client: ")
        assert finished.stderr.count("\n") == 1
    return json.loads(finished.stdout), finished.returncode


def open_load(rate: float, duration: float) -> str:
    return f"--load open --rate {rate} --duration {duration}"


NO_FIGURES = dict.fromkeys(["min", "mean", "p50", "p90", "p99", "p99_9", "max"]) | {"over": {}}
"""An empty distribution."""


class Gated:
    """A client that is ready and waits at its gate (--gate-fd)."""

    def __init__(self, server: Scripted | RunningServer, options: str = "") -> None:
        self.outside, inside = socket.socketpair()
        self.outside.settimeout(PATIENCE_S)
        gate = ("--json", "--gate-fd", str(inside.fileno()))
        words = (*gate, *options.split(), server.address)
        self.process = begin_client(*words, stderr=None, pass_fds=[inside.fileno()])
        inside.close()
        assert self.outside.recv(100) == b"ready\n"

    def go(self) -> None:
        self.outside.sendall(b"go\n")

    def result(self) -> dict[str, Any]:
        assert self.outside.recv(100) == b"done\n"
        return self.end()

    def end(self) -> dict[str, Any]:
        self.outside.sendall(b"closed\n")
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        assert self.outside.recv(100) == b""
        self.outside.close()
        return json.loads(out)


KINDS = ("connect", "timeout", "closed", "malformed", "refused", "changed", "early")


def errors(**kinds: int) -> dict[str, int]:
    return dict.fromkeys(KINDS, 0) | kinds


def read_samples(path: Path) -> tuple[list[tuple[int, int, int, int, int]], int]:
    content = path.read_bytes()
    magic, size, reserved, count, offset_ns = struct.unpack_from("<8sIIQq", content)
    assert (magic, size, reserved) == (b"RGSAMPL1", 32, 0)
    assert len(content) == 32 + 32 * count
    records = struct.iter_unpack("<qqqIHH", content[32:])
    return [record[:5] for record in records], offset_ns


def processes_named(path: Path) -> list[int]:
    """By connection: the hash of the processes in its reply."""
    records = struct.iter_unpack("<qqqIHH", path.read_bytes()[32:])
    return [processes for *_, processes in sorted(records, key=lambda record: record[3])]
