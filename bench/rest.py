"""Connections at rest: held beside a load, or held to see what memory they take."""

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
from regatta.machine import accounting

FOOTPRINT = "resident memory of the server's first process, KiB"

MEMORY = "resident server memory per connection at rest, bytes"

# Tables and allocators are warm after these; the slope from here on is what a connection takes.
WARM = 100
# Requests that are sent at once, over one connection.
PIPELINED = 10


class ConnectionHolder:
    """A process on the client's side that holds connections."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def more(self, count: int) -> None:
        """Returns when the server has accepted so many more."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            self.process.stdin.write(f"{count}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        if not self.process.stdout.readline():
            raise TrialError(f"{count} connections could not be held open: {self.complaint()}")

    def complaint(self) -> str:
        assert self.process.stderr
        lines = self.process.stderr.read().strip().splitlines()
        return lines[-1] if lines else "no reason given"

    def release(self) -> None:
        """Ends it; every connection must still have been there."""
        assert self.process.stdin
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise TrialError(self.complaint())


@contextmanager
def holding(testbed: Testbed, serving: Serving, asks: bool) -> Iterator[ConnectionHolder]:
    command = [sys.executable, "-S", str(HERE / "hold.py"), testbed.host, str(serving.port)]
    command.append("asked" if asks else "silent")
    with start_helper(testbed.placement.client.command(command)) as process:
        holder = ConnectionHolder(process)
        try:
            yield holder
            holder.release()
        finally:
            process.kill()


def resident_bytes(pid: int) -> int:
    """Of a process and all that descend from it; what they share counts once (Pss)."""
    total = 0
    for member in accounting.descendants(pid):
        for line in Path(f"/proc/{member}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
    return total


@dataclass(frozen=True)
class RestingConnections(Load):
    """So many connections that have each asked once, or never.

    The server's own memory: what the kernel keeps of a socket or a ring is not counted.
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
    """What the server's first process has resident, libraries and what it shares included (VmRSS).

    After so many requests that whatever it keeps of each process is there, and some seconds of the
    recorder.
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
        raise TrialError("the server has ended")
