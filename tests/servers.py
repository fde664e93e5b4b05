"""A running regatta-server, and small ways to talk to it."""

import contextlib
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.answers import rows_of
from tests.commands import run_well
from tests.users import runnable_by_all
from tests.waiting import PATIENCE_S

__all__ = ["rows_of"]

REPOSITORY = Path(__file__).resolve().parent.parent
AS_US = ("--user", "root") if os.geteuid() == 0 else ()
"""Options that keep a server under the user of the tests, who may then change its limits."""


def program(name: str) -> str:
    """Path of one of our programs, in $REGATTA_BIN or bin/."""
    return str(Path(os.environ.get("REGATTA_BIN", REPOSITORY / "bin")).resolve() / name)


def built(path: str) -> str:
    """Path of a file in the build folder, such as a test program."""
    return str(Path(os.environ.get("REGATTA_BUILD", REPOSITORY / "build")).resolve() / path)


PRELOADABLE = built("tests/conformance/dynamic-server")
"""Our server, but not static, so that a library can be preloaded into it."""


@dataclass(frozen=True)
class ListedDesign:
    """A row of `--list-designs`. A new design is tested without further registration."""

    name: str
    pool: bool
    """It takes --workers."""
    serves: str
    """How many idle clients it serves at a time: "one", "workers" or "all"."""
    missing: str | None
    """Why it cannot run on this machine."""

    def workers(self, count: int) -> tuple[str, ...]:
        """Options for this many workers, if it has a pool."""
        return ("--workers", str(count)) if self.pool else ()

    def serving(self, clients: int) -> tuple[str, ...]:
        """Options with which it serves exactly this many idle clients, if it has such a limit."""
        assert self.serves != "one" or clients == 1, f"{self.name} serves one client at a time"
        return self.workers(clients) if self.serves == "workers" else ()


@functools.cache
def sandbox_layers() -> dict[str, dict[str, Any]]:
    """What the server lists, by layer: `holds` on this machine, `what`."""
    listed = json.loads(run_well(program("regatta-server"), "--list-sandbox", "--json"))
    return {row["layer"]: row for row in listed}


@functools.cache
def table() -> tuple[ListedDesign, ...]:
    """All designs that the server lists."""
    listed = json.loads(run_well(program("regatta-server"), "--list-designs", "--json"))
    return tuple(
        ListedDesign(row["name"], row["pool"], row["serves"], row["missing"]) for row in listed
    )


def runnable() -> list[ListedDesign]:
    """Designs that can run on this machine."""
    return [design for design in table() if design.missing is None]


def designs() -> list[str]:
    return [design.name for design in runnable()]


SANITIZER = os.environ.get("REGATTA_SANITIZER")
"""Sanitizer of the build under test ("address", "thread"), if any, set by scripts/sanitize. It adds
CPU time and memory that tests must not attribute to our programs."""
ONE_SNAPSHOT = ("--work", "snapshot", "--max-age", "86400000")
"""Options with which one snapshot serves the whole life of the server."""
REPEAT_S = 1.0


class RunningServer:
    """A server process. `stop` fills in `summary`, `stdout` and `stderr`."""

    def __init__(self, process: subprocess.Popen[bytes], address: str, summary: Path) -> None:
        host, port = address.rsplit(":", 1)
        self.process = process
        self.address = address
        self.host = host.strip("[]")
        self.port = int(port)
        self._summary = summary
        self.summary: dict[str, Any] = {}
        self.stdout = self.stderr = ""
        self.is_over = False

    def connect(
        self,
        receive_buffer: int | None = None,
        segment: int | None = None,
        source: str | None = None,
        host: str | None = None,
    ) -> socket.socket:
        """A connected socket with a timeout and TCP_NODELAY; the caller closes it (`with`).

        segment: maximum TCP segment size, which also keeps the server's send buffer small.
        source: the client's address. host: another address of the server."""
        host = host or self.host
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        connection = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if segment is not None:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
        if source is not None:
            connection.bind((source, 0))
        connection.settimeout(PATIENCE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.connect((host, self.port))
        return connection

    @contextlib.contextmanager
    def connect_many(self, count: int) -> Iterator[list[socket.socket]]:
        """`count` connections at a time."""
        with contextlib.ExitStack() as stack:
            yield [stack.enter_context(self.connect()) for _ in range(count)]

    def connect_when_there_is_room(self) -> socket.socket:
        """A connection that is served, once the server has noticed that earlier clients left."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            connection = self.connect()
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"top 2\n")
                if read_reply(connection).startswith(b"rank"):
                    return connection
            connection.close()
            assert time.monotonic() < deadline, "the server did not recover"

    def ask(self, request: bytes) -> bytes:
        """Sends a request, half-closes, and returns the whole reply."""
        with self.connect() as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            return read_all(connection)

    def stop(self) -> dict[str, Any]:
        """SIGTERM; the server must drain and exit with status 0. Returns its summary."""
        if not self.is_over:
            printed = self._terminate()
            self.stdout, self.stderr = ((text or b"").decode(errors="replace") for text in printed)
            assert self.process.returncode == 0, self.stderr
            self.summary = json.loads(self._summary.read_text())
            self.is_over = True
        return self.summary

    def _terminate(self) -> tuple[bytes, bytes]:
        """Ends it by SIGTERM. Returns stdout and stderr.

        The thread sanitizer delays a signal that arrives in its own code until the next system call
        of the program, which may be a wait for clients: there the signal is repeated.
        """
        deadline = time.monotonic() + PATIENCE_S
        while True:
            self.process.send_signal(signal.SIGTERM)
            try:
                left_s = deadline - time.monotonic()
                pause_s = REPEAT_S if SANITIZER == "thread" else PATIENCE_S
                return self.process.communicate(timeout=min(left_s, pause_s))
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    raise

    def kill(self) -> None:
        """SIGKILL; the server leaves no summary."""
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self.is_over = True


PASS_LISTENER = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "${@:2}" 3<&"$1"'
"""Bash script: execute the other arguments with descriptor $1 as the inherited listener."""

Start = Callable[..., RunningServer]
"""Starts a server with these options, for the duration of the test."""


@contextlib.contextmanager
def running(  # noqa: PLR0913  (each is set by some test)
    folder: Path,
    *options: str,
    listen: str = "127.0.0.1:0",
    prefix: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    records: bool = False,
    binary: str | None = None,
    listener: socket.socket | None = None,
) -> Iterator[RunningServer]:
    """Starts a server, waits until it is ready, and stops it at the end (exit status 0 required).

    records: with the recorder; without it only clients cause scans. The default source is procfs,
    because loading bpf takes longer than most tests.
    binary: path of another server program.
    listener: passed by socket activation, instead of `listen`.
    """
    summary = folder / "server.json"
    summary.unlink(missing_ok=True)
    ready_read, ready_write = os.pipe()

    environment = {**os.environ, **(environment or {})}
    path = binary or program("regatta-server")
    if "LD_PRELOAD" in environment and not SANITIZER:
        path = PRELOADABLE
    if listener is not None:
        prefix = [*prefix, "bash", "-c", PASS_LISTENER, "bash", str(listener.fileno())]
    process = subprocess.Popen(
        [
            *prefix,
            runnable_by_all(path) if prefix else path,
            "--quiet",
            *("--listen", listen),
            *("--ready-fd", str(ready_write)),
            *("--summary", str(summary)),
            *([] if records else ["--no-recorder"]),
            *([] if "--source" in options else ["--source", "procfs"]),
            *options,
        ],
        pass_fds=(ready_write, *([] if listener is None else [listener.fileno()])),
        env=environment,
        process_group=0,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(ready_write)
    with os.fdopen(ready_read) as ready:
        line = ready.readline()
    assert line.startswith("ready "), process.communicate(timeout=PATIENCE_S)[1].decode()
    server = RunningServer(process, line.split()[1], summary)
    try:
        yield server
        server.stop()
    finally:
        if not server.summary:  # neither it nor its workers may disturb other tests
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@contextlib.contextmanager
def starting(folder: Path, *always: str) -> Iterator[Start]:
    """Starts servers with these and more options, until the end of the block."""
    with contextlib.ExitStack() as stack:
        yield lambda *options, **settings: stack.enter_context(
            running(folder, *always, *options, **settings)
        )


def read_all(connection: socket.socket) -> bytes:
    """Everything until the peer closes."""
    received = bytearray()
    while piece := connection.recv(65536):
        received += piece
    return bytes(received)


def read_until_lost(connection: socket.socket) -> bytes:
    """Everything until the peer closes or resets."""
    received = bytearray()
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            received += piece
    return bytes(received)


def read_reply(connection: socket.socket) -> bytes:
    """One reply of the line dialect, including the empty line at its end."""
    received = bytearray()
    while not received.endswith(b"\n\n"):
        piece = connection.recv(65536)
        assert piece, f"the connection ended in mid-reply: {bytes(received)!r}"
        received += piece
    return bytes(received)


def ask_over(connection: socket.socket, request: bytes = b"top 2\n") -> bytes:
    """One request and reply of the line dialect. The connection stays open."""
    connection.sendall(request)
    return read_reply(connection)


def is_refusal(answer: bytes) -> bool:
    """Whether this is the refusal of a server at its limit, which both dialects can read."""
    return (
        answer.startswith(b"HTTP/1.1 503 ")
        and b"\r\n\r\nerror: " in answer
        and answer.endswith(b"\n\n")
    )


def needs(tool: str) -> str:
    """Path of a tool that `make setup` installs."""
    path = shutil.which(tool)
    assert path is not None, f"{tool} is missing; `make setup` installs it"
    return path
