"""Scripted servers for the client to meet, and running the client against them."""

import contextlib
import json
import re
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.commands import Done, assert_refused, run, run_well
from tests.servers import RunningServer, program
from tests.waiting import PATIENCE_S, wait_until

ENGINES = ["epoll", "thread", "fork"]
DIALECTS = ["line", "http"]

TITLE = b"rank pid user_seconds system_seconds name\n"
ROWS = b"1 4242 12.340000 1.250000 postgres: writer\n2 7 0.500000 0.250000 sh\n"
LINE_REPLY = TITLE + ROWS + b"\n"
# What our own server adds to the rows; foreign contenders need not.
TAIL = (
    b"- - 1000.500000 7.000000 (everything else)\n"
    b"# source procfs (as asked), 75 tasks, 0 lost, taken 2026-11-21T13:20:01.123Z\n"
)


def http(body: bytes, status: bytes = b"200 OK", headers: bytes = b"") -> bytes:
    length = str(len(body)).encode()
    return b"HTTP/1.1 %s\r\n%sContent-Length: %s\r\n\r\n%s" % (status, headers, length, body)


REPLIES = {"line": LINE_REPLY, "http": http(TITLE + ROWS)}
WHOLE_REPLIES = {"line": TITLE + ROWS + TAIL + b"\n", "http": http(TITLE + ROWS + TAIL)}


# A server that does what a test wants


def read_request(connection: socket.socket) -> bytes:
    """One request of either dialect; b"" when the client hung up."""
    request = b""
    while not request.endswith((b"\r\n\r\n",)) and not re.fullmatch(rb"top \d+\n", request):
        more = connection.recv(4096)
        if not more:
            return b""
        request += more
    return request


def address_of(listener: socket.socket) -> str:
    return f"127.0.0.1:{listener.getsockname()[1]}"


@contextlib.contextmanager
def nobody_there() -> Iterator[str]:
    """An address that refuses, and that nobody else can listen at meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield address_of(bound)


Handler = Callable[[socket.socket, int], None]
"""What is done with a connection; its number says how many came before it."""


class Scripted:
    """A server on loopback that hands each connection to a handler in a thread of its own."""

    def __init__(self, handler: Handler, backlog: int = 1024) -> None:
        self.handler = handler
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
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
        # The client may hang up at any time: that is its right.
        with connection, contextlib.suppress(OSError):
            connection.settimeout(PATIENCE_S)
            self.handler(connection, number)

    def wait_for(self, connections: int) -> None:
        """Until so many have been accepted in all."""
        wait_until(lambda: self.accepted >= connections, f"fewer than {connections} came")

    def hold(self) -> None:
        """Says nothing until the test is over."""
        self._over.wait(PATIENCE_S)

    def close(self) -> None:
        self._over.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        # What handlers noted is complete only when they have seen their client hang up.
        for thread in (self._accepting, *self._handlers):
            thread.join(PATIENCE_S)
            assert not thread.is_alive(), "a handler still waits for its client"


@contextlib.contextmanager
def serving(handler: Handler, backlog: int = 1024) -> Iterator[Scripted]:
    server = Scripted(handler, backlog)
    try:
        yield server
    finally:
        server.close()


def once(reply: bytes) -> Handler:
    """Reads a request, answers, closes."""

    def handler(connection: socket.socket, _number: int) -> None:
        if read_request(connection):
            connection.sendall(reply)

    return handler


def always(
    reply: bytes,
    counts: dict[int, int] | None = None,
    pause_s: float = 0,
    seen: list[bytes] | None = None,
) -> Handler:
    """Answers until the client hangs up, each time after a pause."""

    def handler(connection: socket.socket, number: int) -> None:
        while request := read_request(connection):
            if counts is not None:
                counts[number] = counts.get(number, 0) + 1
            if seen is not None:
                seen.append(request)
            time.sleep(pause_s)
            connection.sendall(reply)

    return handler


# Running the client


def client(*options: str, **settings: Any) -> Done:
    return run(program("regatta-client"), *options, **settings)


def refusal(*options: str, status: int = 2, **settings: Any) -> str:
    """The line with which the client refuses."""
    done = client(*options, **settings)
    assert_refused(done, status, "regatta-client")
    return done.stderr


def shown_by(*options: str, **settings: Any) -> str:
    """What a person sees of a load that went well."""
    return run_well(program("regatta-client"), *options, **settings)


def address_at(server: Scripted | RunningServer | str) -> str:
    return server if isinstance(server, str) else server.address


def result_of(
    server: Scripted | RunningServer | str,
    options: str = "",
    engine: str = "epoll",
    dialect: str = "line",
) -> tuple[dict[str, Any], int]:
    """The JSON object and the exit status of a load; a failed one says so in one line.

    server: or its address. options: as on a command line."""
    how = ("--engine", engine, "--dialect", dialect, *options.split())
    finished = client("--json", *how, address_at(server))
    if finished.returncode == 0:
        assert finished.stderr == ""
    else:
        assert finished.stderr.startswith("regatta-client: ")
        assert finished.stderr.count("\n") == 1
    return json.loads(finished.stdout), finished.returncode


def outcome(
    handler: Handler, options: str = "", engine: str = "epoll", dialect: str = "line"
) -> tuple[int, dict[str, int]]:
    """The exit status and the errors of a load on a server that does so."""
    with serving(handler) as server:
        result, status = result_of(server, options, engine, dialect)
    return status, result["errors"]


def open_load(rate: float, duration: float) -> str:
    return f"--load open --rate {rate} --duration {duration}"


NO_FIGURES = dict.fromkeys(["min", "mean", "p50", "p90", "p99", "p99_9", "max"]) | {"over": {}}
"""A distribution of nothing."""


class Gated:
    """A client behind a gate: prepared, and not yet let through."""

    def __init__(self, server: Scripted | RunningServer, options: str = "") -> None:
        self.outside, inside = socket.socketpair()
        self.outside.settimeout(PATIENCE_S)
        self.process = subprocess.Popen(
            [
                *(program("regatta-client"), "--json", "--gate-fd", str(inside.fileno())),
                *(*options.split(), server.address),
            ],
            stdout=subprocess.PIPE,
            pass_fds=[inside.fileno()],
        )
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
        result: dict[str, Any] = json.loads(out)
        return result


def errors(**kinds: int) -> dict[str, int]:
    return {"connect": 0, "timeout": 0, "closed": 0, "malformed": 0, "refused": 0} | kinds


def read_samples(path: Path) -> tuple[list[tuple[int, int, int, int, int]], int]:
    content = path.read_bytes()
    magic, size, reserved, count, offset_ns = struct.unpack_from("<8sIIQq", content)
    assert (magic, size, reserved) == (b"RGSAMPL1", 32, 0)
    assert len(content) == 32 + 32 * count
    records = struct.iter_unpack("<qqqIHH", content[32:])
    return [record[:5] for record in records], offset_ns


def read_told(path: Path) -> list[int]:
    """Of each connection, in order: which processes it was told of."""
    records = struct.iter_unpack("<qqqIHH", path.read_bytes()[32:])
    return [told for *_, told in sorted(records, key=lambda record: record[3])]
