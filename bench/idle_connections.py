"""Idle connections: held beside a load, or to measure their memory."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.paths import HERE
from bench.servers import Load, Server, Serving
from bench.sleepers import start_helper
from bench.testbed import Figures, Testbed
from regatta.errors import TrialError
from regatta.measure.accounts import process_tree

FOOTPRINT = "resident memory of the server's first process, KiB"

MEMORY = "resident server memory per connection at rest, bytes"

# After these, tables and allocators are warm; growth from here on is the connections' memory.
WARM = 100
# Requests that are pipelined on one connection.
PIPELINED = 10


class ConnectionHolder:
    """A process on the client's side that holds idle connections."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def more(self, count: int) -> None:
        """Opens this many more; returns when the server has accepted them."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            self.process.stdin.write(f"{count}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        if not self.process.stdout.readline():
            raise TrialError(f"{count} connections could not be opened: {self.complaint()}")

    def complaint(self) -> str:
        assert self.process.stderr
        lines = self.process.stderr.read().strip().splitlines()
        return lines[-1] if lines else "no reason given"

    def release(self) -> None:
        """Ends the process; TrialError if the server has closed a connection."""
        assert self.process.stdin
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise TrialError(self.complaint())


@contextmanager
def holding(testbed: Testbed, serving: Serving, asks: bool) -> Iterator[ConnectionHolder]:
    command = [
        sys.executable,
        "-S",
        str(HERE / "hold_connections.py"),
        testbed.host,
        str(serving.port),
    ]
    command.append("asked" if asks else "silent")
    with start_helper(testbed.placement.client.command(command)) as process:
        holder = ConnectionHolder(process)
        try:
            yield holder
            holder.release()
        finally:
            process.kill()


def resident_bytes(pid: int) -> int:
    """Memory of a process and its descendants; shared pages count once (Pss)."""
    total = 0
    for member in process_tree.descendants(pid):
        for line in Path(f"/proc/{member}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
    return total


@dataclass(frozen=True)
class RestingConnections(Load):
    """Idle connections that have each sent one request or none.

    Measures the server's memory without the kernel's memory for sockets or rings.
    """

    connections: int
    asks: bool

    @property
    def name(self) -> str:
        history = "asked once" if self.asks else "never asked"
        return f"{self.connections:,} connections that {history}"

    def run(self, testbed: Testbed, _: Server, serving: Serving) -> Figures:
        with holding(testbed, serving, self.asks) as holder:
            holder.more(WARM)
            before = resident_bytes(serving.pid)
            holder.more(self.connections)
            after = resident_bytes(serving.pid)
        return {MEMORY: (after - before) / self.connections}


@dataclass(frozen=True)
class Footprint(Load):
    """Resident memory of the server's first process, with libraries and shared pages (VmRSS).

    It is read after enough requests to fill the server's caches and some seconds of the recorder.
    """

    requests: int = 40
    seconds: int = 2

    @property
    def name(self) -> str:
        return f"{self.requests} requests and {self.seconds} s"

    def run(self, testbed: Testbed, _: Server, serving: Serving) -> Figures:
        request = b"GET /top?n=64&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for _batch in range(self.requests // PIPELINED):
            if not testbed.ask(serving.port, request * PIPELINED):
                raise TrialError("the server does not answer")
        time.sleep(self.seconds)
        for line in Path(f"/proc/{serving.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return {FOOTPRINT: float(line.split()[1])}
        raise TrialError("the server exited during the measurement")
