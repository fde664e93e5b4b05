"""A server under mixed load for minutes, with process churn, and its resources."""

import contextlib
import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy.stats import theilslopes

from tests.processes import resident_kib
from tests.reliability.state import read_state
from tests.servers import AS_US, ListedDesign, RunningServer, program, running
from tests.waiting import PATIENCE_S

WARM_UP_S = 75
"""By then every code path has run, and the history of one minute is full."""
EACH_S = 1.0
RATE_PER_S = int(os.environ.get("SOAK_RATE", "500"))
WORKERS = 32
"""Enough for the keep-alive connections and some more."""
CHURN = "while :; do sleep 0.02; done"
"""About forty processes a second."""
LEAKS = {"memory_kib": 1.0, "descriptors": 1.0, "threads": 1.0}
"""The smallest leaks that must be found, per 1,000 requests."""


SHARE_OF_LEAK = 0.25


@dataclass(frozen=True)
class Trend:
    """Of a resource, per 1,000 requests, by the Theil-Sen estimator: the median slope of all pairs
    of readings, robust against steps and outliers, with its 95 % interval. It counts as growth if
    the low end exceeds a quarter of the smallest leak that must be found; less cannot be told from
    noise within minutes on a busy machine."""

    slope: float
    low: float
    high: float

    def grows(self, leak: float) -> bool:
        return self.low > leak * SHARE_OF_LEAK


@dataclass(frozen=True)
class Soak:
    seconds: float
    requests: int
    wrong: int
    errors: dict[str, int]
    """Errors of the clients by kind."""
    moments: list[float]
    """Times of the readings in seconds."""
    readings: list[dict[str, float]]
    trends: dict[str, Trend]
    """Over the second half, when all workers have touched their memory."""

    def growing(self) -> dict[str, Trend]:
        return {what: found for what, found in self.trends.items() if found.grows(LEAKS[what])}


def share(of_all: float, options: str) -> str:
    return f"-c 8 --load open --rate {RATE_PER_S * of_all:g} {options}"


def loads(design: ListedDesign) -> list[str]:
    """Half of the requests in each dialect. Designs that serve one client at a time get neither
    keep-alive nor slow connections."""
    short_lines = share(0.5, "--dialect line --per-connection 1")
    if design.serves == "one":
        return [share(0.5, "--dialect http --per-connection 1"), short_lines]
    return [
        share(0.3, "--dialect http --per-connection 0 --idle 4 --slow 4"),
        share(0.2, "--dialect http --per-connection 10 -n 64"),
        short_lines,
    ]


@contextlib.contextmanager
def background(*commands: list[str]) -> Iterator[list[subprocess.Popen[bytes]]]:
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for command in commands]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def resources(pid: int) -> dict[str, float]:
    """Resources of all server processes, without the /proc files that scans keep open, whose number
    depends on other processes."""
    now = read_state(pid)
    return {
        "memory_kib": resident_kib(pid),
        "descriptors": now.descriptors,
        "threads": now.threads,
    }


def watch(
    server: RunningServer, clients: list[subprocess.Popen[bytes]], seconds: float
) -> tuple[list[float], list[dict[str, float]]]:
    """Readings, one a second after the warm-up."""
    begun = time.monotonic()
    moments: list[float] = []
    readings: list[dict[str, float]] = []
    due = begun + WARM_UP_S
    while due < begun + WARM_UP_S + seconds:
        time.sleep(max(0.0, due - time.monotonic()))
        assert [client.poll() for client in clients] == [None] * len(clients), "a client has exited"
        moments.append(time.monotonic() - begun)
        readings.append(resources(server.process.pid))
        due += EACH_S
    return moments, readings


def results(clients: list[subprocess.Popen[bytes]]) -> list[dict[str, Any]]:
    return [json.loads(client.communicate(timeout=PATIENCE_S * 2)[0]) for client in clients]


def soak(
    design: ListedDesign,
    minutes: float,
    folder: Path,
    options: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> Soak:
    """Starts a server of the design, and stops it at the end (status 0 required)."""
    seconds = 60 * minutes
    asked = ("--design", design.name, "--work", "snapshot", "--max-age", "100", *AS_US, *options)
    if design.serves == "workers":
        asked += design.workers(WORKERS)
    with running(folder, *asked, records=True, environment=environment) as server:
        duration = str(WARM_UP_S + seconds + 2)
        ask = [program("regatta-client"), "--json", "--duration", duration]
        clients = [[*ask, *load.split(), server.address] for load in loads(design)]
        with background(["sh", "-c", CHURN]), background(*clients) as asking:
            moments, readings = watch(server, asking, seconds)
            loads_done = results(asking)
        requests = sum(result["requests"] for result in loads_done)
        wrong = requests - sum(result["answered"] for result in loads_done)
        errors = sum((Counter(result["errors"]) for result in loads_done), Counter[str]())
    half = len(readings) // 2
    thousands = [moment * requests / float(duration) / 1000 for moment in moments[half:]]
    trends = {}
    for what in LEAKS:
        values = [reading[what] for reading in readings[half:]]
        found = theilslopes(values, thousands, alpha=0.95)
        trends[what] = Trend(float(found.slope), float(found.low_slope), float(found.high_slope))
    return Soak(seconds, requests, wrong, dict(errors), moments, readings, trends)
