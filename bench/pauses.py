"""Is a client's p99 right? The server is stopped for 100 ms of every 500 ms, so it is known.

Of requests that start evenly, those that start x before the end of a pause wait for x. With pauses
of length L every P, 1 % wait for longer than L - P / 100: that is the true p99. A client in a
closed loop sends nothing while all its connections wait, so it misses most of these requests
("coordinated omission"). An open load that counts from the intended start misses none.
"""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean
from threading import Event, Thread

from bench.http_clients import oha_command, oha_lack, read_oha
from bench.loads import ANY_ANSWER, read_json, read_regatta_client, read_wrk, regatta_client
from bench.servers import PATH, Load, Server, Serving
from bench.testbed import Figures, Testbed
from regatta.errors import TrialError
from regatta.measure import programs

P99 = "reported p99 / true p99"
PAUSE_S, PERIOD_S = 0.1, 0.5
# A hundred requests come in a pause, so most of them find no free connection.
CONNECTIONS, RATE, SECONDS = 16, 1_000, 5
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass
class Pauses:
    """When a process was stopped and continued, in seconds."""

    stopped_s: list[float] = field(default_factory=list)
    continued_s: list[float] = field(default_factory=list)

    def true_p99_s(self) -> float:
        length_s = fmean(
            end - start for start, end in zip(self.stopped_s, self.continued_s, strict=True)
        )
        period_s = (self.stopped_s[-1] - self.stopped_s[0]) / (len(self.stopped_s) - 1)
        return length_s - period_s / 100


@contextmanager
def pausing(pid: int) -> Iterator[Pauses]:
    """Stops the process at a fixed rhythm meanwhile; it runs at the end."""
    pauses, over = Pauses(), Event()

    def pause() -> None:
        start_s = time.monotonic()
        while not over.wait(max(0.0, start_s - time.monotonic())):
            os.kill(pid, signal.SIGSTOP)
            pauses.stopped_s.append(time.monotonic())
            time.sleep(PAUSE_S)
            os.kill(pid, signal.SIGCONT)
            pauses.continued_s.append(time.monotonic())
            start_s += PERIOD_S

    thread = Thread(target=pause)
    thread.start()
    try:
        yield pauses
    finally:
        over.set()
        thread.join()


def wrk_p99_s(printed: str) -> float:
    read_wrk(printed)
    found = re.search(r"99%\s+([\d.]+)(us|ms|s)\b", printed)
    if found is None:
        raise TrialError("wrk printed no 99th percentile")
    return float(found[1]) * UNITS[found[2]]


def oha_p99_s(printed: str) -> float:
    read_oha(printed)
    return float(read_json(printed)["latencyPercentiles"]["p99"])


def our_p99_s(printed: str) -> float:
    read_regatta_client(printed)
    return float(read_json(printed)["latency_ns"]["p99"]) / 1e9


@dataclass(frozen=True)
class PausedServer(Load):
    """One client under pauses: `regatta-client` and `oha` with an open load, `wrk` as it can."""

    client: str

    @property
    def name(self) -> str:
        return f"{self.client} while the server pauses"

    def lack(self) -> str | None:
        return oha_lack() if self.client == "oha" else None

    def run(self, testbed: Testbed, _: Server, serving: Serving) -> Figures:
        command, p99_s = {"oha": by_oha, "wrk": by_wrk}.get(self.client, by_ours)(serving.target)
        with pausing(serving.pid) as pauses:
            printed, _cpu_ns = testbed.run_client(command)
        return {P99: p99_s(printed) / pauses.true_p99_s()}


# A client's command, and what reads the p99 in seconds from its output.
Client = tuple[list[str], Callable[[str], float]]


def by_ours(target: str) -> Client:
    options = (*ANY_ANSWER, "--load", "open", "--rate", str(RATE), "--duration", str(SECONDS))
    return regatta_client(CONNECTIONS, target, *options), our_p99_s


def by_oha(target: str) -> Client:
    options = ("-q", str(RATE), "--latency-correction")
    return oha_command(CONNECTIONS, SECONDS, target, *options), oha_p99_s


def by_wrk(target: str) -> Client:
    command = [programs.need_tool("wrk", "wrk"), "-t1", f"-c{CONNECTIONS}", "--latency"]
    return [*command, f"-d{SECONDS}s", f"http://{target}{PATH}"], wrk_p99_s
