"""The truth beside a race: one long-lived process of each server, warmed, then asked in turn.

Asked by oha, and again by our own client, as the two pace their requests differently. The CPU time
is that of the whole tree of processes, from /proc."""

import contextlib
import json
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.commands import run_well
from tests.processes import cpu_seconds
from tests.real.figures import Figures, estimate
from tests.real.servers import CONNECTIONS, HOME, Server
from tests.servers import program
from tests.sockets import free_port
from tests.waiting import wait_until

OHA = HOME / "bin" / "oha"
WARM_UP_S = 20


@dataclass(frozen=True)
class Asked:
    requests: int
    p50_us: float


@dataclass(frozen=True)
class Window:
    cpu_us: float
    """Per request."""
    p50_us: float


Client = Callable[[int, int, int, str], Asked]
"""Asks the server on this port so many times a second, for so many seconds, from these CPUs."""


def oha(port: int, rate: int, seconds: int, cpus: str) -> Asked:
    command = [
        "taskset", "-c", cpus, OHA, "--no-tui", "--output-format", "json",
        "-c", CONNECTIONS, "-q", rate, "-z", f"{seconds}s", "-w", "--latency-correction",
        f"http://127.0.0.1:{port}/",
    ]  # fmt: skip
    found = json.loads(run_well(*command))
    answers = found["statusCodeDistribution"]
    assert set(answers) == {"200"}, found
    assert not found["errorDistribution"], found
    return Asked(answers["200"], found["latencyPercentiles"]["p50"] * 1e6)


def our_client(port: int, rate: int, seconds: int, cpus: str) -> Asked:
    command = [
        program("regatta-client"), "-c", CONNECTIONS, "--load", "open", "--rate", rate,
        "--duration", seconds, "--dialect", "http", "--path", "/", "--cpus", cpus, "--json",
        f"127.0.0.1:{port}",
    ]  # fmt: skip
    found = json.loads(run_well(*command))
    return Asked(found["requests"], found["latency_ns"]["p50"] / 1e3)


CLIENTS: dict[str, Client] = {"oha": oha, "regatta-client": our_client}


@dataclass(frozen=True)
class Place:
    """The CPUs and the rate of the race."""

    server_cpus: str
    client_cpus: str
    rate: int


@contextlib.contextmanager
def living(server: Server, place: Place) -> Iterator[tuple[int, int]]:
    """Its process and port, once it answers."""
    port = free_port()
    command = ["taskset", "-c", place.server_cpus, *server.command.format(port=port).split()]
    with subprocess.Popen(
        command, cwd=HOME, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_until(lambda: answers(port), f"it does not answer: {command}")
            yield process.pid, port
        finally:
            process.terminate()


def answers(port: int) -> bool:
    with contextlib.suppress(OSError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
        return True
    return False


def measure(a: Server, b: Server, place: Place, windows: int, seconds: int) -> dict[str, Figures]:
    """By client. The servers take turns, so that what slows the machine slows both."""
    found: dict[str, list[tuple[Window, Window]]] = {name: [] for name in CLIENTS}
    with living(a, place) as first, living(b, place) as second:
        for _, port in (first, second):
            oha(port, place.rate, WARM_UP_S, place.client_cpus)
        for _ in range(windows):
            for name, client in CLIENTS.items():
                of_a, of_b = (window(client, it, place, seconds) for it in (first, second))
                found[name].append((of_a, of_b))
    return {name: figures(pairs) for name, pairs in found.items()}


def window(client: Client, server: tuple[int, int], place: Place, seconds: int) -> Window:
    pid, port = server
    before = cpu_seconds(pid)
    asked = client(port, place.rate, seconds, place.client_cpus)
    return Window((cpu_seconds(pid) - before) * 1e6 / asked.requests, asked.p50_us)


def figures(pairs: list[tuple[Window, Window]]) -> Figures:
    sides = list(zip(*pairs, strict=True))
    cpu_a, cpu_b = (estimate([window.cpu_us for window in side]).value for side in sides)
    p50_a, p50_b = (estimate([window.p50_us for window in side]) for side in sides)
    ratio = estimate([b.cpu_us / a.cpu_us for a, b in pairs])
    return Figures(ratio, (cpu_a, cpu_b), (p50_a, p50_b))
