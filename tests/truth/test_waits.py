"""Where a request's time goes, against servers whose requests wait in a known way (waits.py)."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from regatta.measure.accounts.requests import MOST_REQUESTS
from regatta.measure.trial.recorders import Tracer, why_no_trace
from regatta.record.recordings import (
    BLOCKED,
    QUEUED,
    RUNNABLE,
    STAGES,
    Requests,
    unpack_requests,
)
from tests.commands import run_well
from tests.e2e.racing import alone, needs_programs, needs_two_cpus
from tests.servers import program
from tests.sockets import free_port
from tests.truth.waits import ACCEPT_S, LOCK_EACH_S, LOCK_S

TRACE = Path(program("regatta-trace"))
WAITS = Path(__file__).with_name("waits.py")
HOG = """
import time
while True:
    time.sleep(0.1)
    end = time.monotonic() + 0.005
    while time.monotonic() < end:
        pass
"""
HOGGED_S, PAUSED_S = 0.005, 0.05
LONGER_MS = 0.5
SECONDS = 1.5
OPEN = ("--load", "open", "--rate", "400")

pytestmark = [
    needs_programs,
    needs_two_cpus,
    pytest.mark.skipif(why_no_trace(TRACE if TRACE.exists() else None) is not None,
                       reason="requests cannot be followed here"),
]  # fmt: skip


AT_MOST = pytest.mark.parametrize(
    "most", [math.inf, pytest.param(1.5, marks=pytest.mark.long, id="quiet")]
)
"""Other work makes requests wait longer: only on a quiet machine is there an upper bound."""


def pinned(cpu: int, *words: object) -> list[str]:
    return ["taskset", "-c", *map(str, (cpu, *words))]


def followed(
    folder: Path,
    how: str,
    load: Sequence[object] = OPEN,
    meanwhile: Callable[[int], None] = lambda _: None,
) -> tuple[Requests, dict[str, float]]:
    """Where the time of a server's requests goes, and what the client says of it.

    `meanwhile`: what happens to the server during the load.
    """
    server_cpu, client_cpu = sorted(os.sched_getaffinity(0))[:2]
    port = free_port()
    words = pinned(server_cpu, sys.executable, WAITS, port, how)
    server = subprocess.Popen(words, stdout=subprocess.PIPE)
    tracer = None
    try:
        assert server.stdout
        assert server.stdout.readline() == b"ready\n"
        tracer = Tracer(TRACE, str(port), folder, "server", [server_cpu, client_cpu])
        tracer.control.send("enable")
        tracer.control.wait()
        asked = ["-c", "4", "--duration", SECONDS, "--dialect", "http", "--path", "/", "--json"]
        asked += [*load, f"127.0.0.1:{port}"]
        words = pinned(client_cpu, program("regatta-client"), *asked)
        with subprocess.Popen(words, stdout=subprocess.PIPE) as client:
            meanwhile(server.pid)
            said, _ = client.communicate()
        tracer.control.send("disable")
        tracer.control.wait()
        return unpack_requests(tracer.requests("--per-connection" in load)), json.loads(said)
    finally:
        if tracer is not None:
            tracer.close()
        server.kill()
        server.wait()


def test_all_requests_are_followed_and_take_as_long_as_the_client_says(tmp_path: Path) -> None:
    """Under a closed load: in an open one the client also counts how late it begins."""
    with alone():
        found, said = followed(tmp_path, "nothing", ("--load", "closed", "--per-connection", "1"))
    assert len(found.spent) == pytest.approx(min(said["answered"], MOST_REQUESTS), abs=4)
    p50_us = np.median(np.sum(found.spent, axis=1)) / 1e3
    assert p50_us == pytest.approx(said["latency_ns"]["p50"] / 1e3, rel=0.05, abs=5)


def waited_ms(found: Requests, *stages: str) -> np.ndarray:
    """Of the requests that waited there, how long."""
    waits = sum(np.array(found.spent)[:, STAGES.index(stage)] for stage in stages) / 1e6
    return waits[waits > LONGER_MS]


@AT_MOST
def test_a_server_that_sleeps_before_it_accepts(tmp_path: Path, most: float) -> None:
    load = ("--load", "open", "--rate", "100", "-c", "1", "--per-connection", "1")
    found, _ = followed(tmp_path, "accept", load)
    queued = np.array(found.spent)[:, STAGES.index(QUEUED)] / 1e9
    # Not all: bytes of a slow client come after the accept; a host takes the CPU during a sleep.
    assert np.quantile(queued, 0.2) > ACCEPT_S
    assert np.median(queued) < ACCEPT_S * most


@AT_MOST
def test_a_server_that_holds_a_lock(tmp_path: Path, most: float) -> None:
    """Its requests come at any time of that, so half of them wait for half of it or less."""
    found, _ = followed(tmp_path, "lock")
    waited = waited_ms(found, BLOCKED)
    assert len(waited) > SECONDS / LOCK_EACH_S / 2
    assert 0.6 < np.median(waited) / (LOCK_S * 1e3 / 2) < most


@AT_MOST
def test_a_server_that_is_paused(tmp_path: Path, most: float) -> None:
    took_s = []

    def pause(pid: int) -> None:
        time.sleep(SECONDS / 3)
        os.kill(pid, signal.SIGSTOP)
        begun_s = time.monotonic()
        time.sleep(PAUSED_S)
        os.kill(pid, signal.SIGCONT)
        took_s.append(time.monotonic() - begun_s)

    found, _ = followed(tmp_path, "nothing", meanwhile=pause)
    longest = max(waited_ms(found, QUEUED, BLOCKED))
    assert 0.8 < longest / (took_s[0] * 1e3) < most


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may take a CPU before others")
@AT_MOST
def test_a_server_whose_cpu_another_program_takes(tmp_path: Path, most: float) -> None:
    words = ("chrt", "--fifo", "1", sys.executable, "-c", HOG)
    with subprocess.Popen(pinned(min(os.sched_getaffinity(0)), *words)) as hog:
        try:
            found, _ = followed(tmp_path, "nothing")
        finally:
            hog.kill()
    waited = waited_ms(found, RUNNABLE)
    assert len(waited) > SECONDS / LOCK_EACH_S / 2
    assert 0.6 < np.median(waited) / (HOGGED_S * 1e3 / 2) < most


def test_it_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    for words in ([], ["80", "0"], ["0", "0", "f"], ["80", "3-1", "f"], ["80", "x", "f"]):
        done = subprocess.run([TRACE, *words], capture_output=True, text=True, check=False,
                              cwd=tmp_path)  # fmt: skip
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("regatta-trace: ")
        assert done.stderr.count("\n") == 1
    assert (
        run_well(TRACE, "80", "0", tmp_path / "f", stdin="ping\nenable\ndisable\n") == "ack\n" * 3
    )
