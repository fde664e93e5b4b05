"""Are a client's percentiles right? The server is stopped for 100 ms of every 500 ms, so they are
known.

Of requests that start evenly, those that start x before the end of a pause wait for x. With pauses
of length L every P, 1 % wait for longer than L - P / 100: that is the true p99. A client in a
closed loop sends nothing while all its connections wait, so it misses most of these requests
("coordinated omission"). An open load that counts from the intended start misses none.
"""

import os
import re
import shlex
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean
from threading import Event, Thread

from bench.http_clients import oha_command, oha_lack, read_oha
from bench.loads import ANY_ANSWER, read_json, read_regatta_client, regatta_client
from bench.servers import PATH, Load, Server, Serving
from bench.testbed import Figures, Testbed
from regatta.errors import TrialError
from regatta.measure import programs

P90, P99 = NAMES = "reported p90 / true p90", "reported p99 / true p99"
SHARES = (0.90, 0.99)
PAUSE_S, PERIOD_S = 0.1, 0.5
# A hundred requests come in a pause, so most of them find no free connection.
CONNECTIONS, RATE, SECONDS = 16, 1_000, 5
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass
class Pauses:
    """When a process was stopped and continued, in seconds."""

    stopped_s: list[float] = field(default_factory=list)
    continued_s: list[float] = field(default_factory=list)

    def true_s(self, share: float) -> float:
        """What this share of the requests waits for at most."""
        length_s = fmean(
            end - start for start, end in zip(self.stopped_s, self.continued_s, strict=True)
        )
        period_s = (self.stopped_s[-1] - self.stopped_s[0]) / (len(self.stopped_s) - 1)
        return length_s - period_s * (1 - share)


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


def after_words(form: str) -> Callable[[str], list[float]]:
    """Reads times behind these words, which have {} where the percentage is."""

    def read(printed: str) -> list[float]:
        found = [re.search(form.format(f"{share:.0%}"), printed) for share in SHARES]
        if None in found:
            raise TrialError("the client printed no 90th and 99th percentile")
        return [float(of[1]) * UNITS[of[2]] for of in found if of is not None]

    return read


wrk_s = after_words(r"{}\s+([\d.]+)(us|ms|s)\b")
hey_s = after_words(r"{}%? in ([\d.]+) (s)ecs")


def ab_s(printed: str) -> list[float]:
    """It prints whole milliseconds, but writes more digits into a file."""
    found = dict(re.findall(r"^(\d+),([\d.]+)$", printed, re.MULTILINE))
    return [float(found[f"{share * 100:.0f}"]) / 1e3 for share in SHARES]


def h2load_s(log: str) -> list[float]:
    """It prints no percentile, but logs each request: its start, status and time in µs."""
    times = sorted(int(line.split()[2]) / 1e6 for line in log.splitlines())
    return [times[int(share * len(times))] for share in SHARES]


def vegeta_s(printed: str) -> list[float]:
    return [read_json(printed)["latencies"][f"{share * 100:.0f}th"] / 1e9 for share in SHARES]


def oha_s(printed: str) -> list[float]:
    read_oha(printed)
    found = read_json(printed)["latencyPercentiles"]
    return [float(found[f"p{share * 100:.0f}"]) for share in SHARES]


def our_s(printed: str) -> list[float]:
    read_regatta_client(printed)
    found = read_json(printed)["latency_ns"]
    return [float(found[f"p{share * 100:.0f}"]) / 1e9 for share in SHARES]


@dataclass(frozen=True)
class PausedServer(Load):
    """One client under pauses, with an open load if it has one, at that rate if it can."""

    client: str

    @property
    def name(self) -> str:
        return f"{self.client} while the server pauses"

    def lack(self) -> str | None:
        if self.client == "oha":
            return oha_lack()
        if self.client in INSTALL and programs.find_tool(self.client) is None:
            return f"{self.client} is missing; to install it: {INSTALL[self.client]}"
        return None

    def run(self, testbed: Testbed, _: Server, serving: Serving) -> Figures:
        command, read = CLIENTS[self.client](serving.target)
        with pausing(serving.pid) as pauses:
            printed, _cpu_ns = testbed.run_client(command)
        pairs = zip(NAMES, read(printed), SHARES, strict=True)
        return {name: found_s / pauses.true_s(share) for name, found_s, share in pairs}


# A client's command, and what reads the percentiles in seconds from its output.
Reader = Callable[[str], list[float]]
Client = tuple[list[str], Reader]


def by_ours(target: str) -> Client:
    options = (*ANY_ANSWER, "--load", "open", "--rate", str(RATE), "--duration", str(SECONDS))
    return regatta_client(CONNECTIONS, target, *options), our_s


def by_oha(target: str) -> Client:
    options = ("-q", str(RATE), "--latency-correction")
    return oha_command(CONNECTIONS, SECONDS, target, *options), oha_s


def by_wrk(target: str) -> Client:
    command = [programs.need_tool("wrk", "wrk"), "-t1", f"-c{CONNECTIONS}", "--latency"]
    return [*command, f"-d{SECONDS}s", f"http://{target}{PATH}"], wrk_s


def by_shell(form: str, read: Reader) -> Callable[[str], Client]:
    """A client that needs a file, or its standard input."""

    def client(target: str) -> Client:
        words = form.format(
            url=shlex.quote(f"http://{target}{PATH}"),
            connections=CONNECTIONS,
            seconds=SECONDS,
            rate=RATE,
            each=RATE / CONNECTIONS,
        )
        return ["/bin/sh", "-c", words], read

    return client


CLIENTS = {
    "regatta-client": by_ours,
    "oha": by_oha,
    "vegeta": by_shell(
        "echo GET {url} | vegeta attack -rate {rate} -duration {seconds}s | vegeta report -type "
        "json",
        vegeta_s,
    ),
    "hey": by_shell("hey -z {seconds}s -c {connections} -q {each} {url}", hey_s),
    "h2load": by_shell(
        "h2load --h1 -t1 -c{connections} -D{seconds} --rps {each} --log-file=h2load.log {url} "
        ">&2 && cat h2load.log",
        h2load_s,
    ),
    "wrk": by_wrk,
    "ab": by_shell(
        "ab -q -k -c {connections} -t {seconds} -n 9999999 -e ab.csv {url} >&2 && cat ab.csv", ab_s
    ),
}
INSTALL = {
    "vegeta": "go install github.com/tsenart/vegeta/v12@latest",
    "hey": "go install github.com/rakyll/hey@latest",
    "h2load": "apt-get install nghttp2-client",
    "ab": "apt-get install apache2-utils",
}
