"""Where a request's time goes, against servers whose requests wait in a known way (waits.py)."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from regatta.measure.trial.recorders import Tracer, why_no_trace
from regatta.record.recordings import (
    BLOCKED,
    ON_THE_WAY,
    QUEUED,
    RUNNABLE,
    RUNNING,
    Requests,
    Slow,
    unpack_requests,
)
from tests.commands import run_well
from tests.e2e.racing import alone, needs_programs, needs_two_cpus
from tests.servers import program
from tests.sockets import free_port
from tests.truth.waits import ACCEPT_S, LOCK_S

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
RATE, SECONDS = 400, 1.5

pytestmark = [
    needs_programs,
    needs_two_cpus,
    pytest.mark.skipif(why_no_trace(TRACE if TRACE.exists() else None) is not None,
                       reason="requests cannot be followed here"),
]  # fmt: skip


def pinned(cpu: int, *words: object) -> list[str]:
    return ["taskset", "-c", *map(str, (cpu, *words))]


def followed(
    folder: Path, how: str, *load: str, meanwhile: Callable[[int], None] = lambda _: None
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
        asked = ["-c", "4", "--load", "open", "--rate", RATE, "--duration", SECONDS]
        asked += ["--dialect", "http", "--path", "/", "--json", *load, f"127.0.0.1:{port}"]
        words = pinned(client_cpu, program("regatta-client"), *asked)
        with subprocess.Popen(words, stdout=subprocess.PIPE) as client:
            meanwhile(server.pid)
            said, _ = client.communicate()
        tracer.control.send("disable")
        tracer.control.wait()
        return unpack_requests(tracer.requests()), json.loads(said)
    finally:
        if tracer is not None:
            tracer.close()
        server.kill()
        server.wait()


def ms(slow: Slow, stage: str) -> float:
    return sum(length for name, _, length in slow.stages if name == stage) / 1e6


def test_all_requests_are_followed_and_take_as_long_as_the_client_says(tmp_path: Path) -> None:
    with alone():
        found, said = followed(tmp_path, "nothing", "--per-connection", "1")
    assert len(found.spent) == said["answered"] == RATE * SECONDS
    whole = np.sum(found.spent, axis=1) / 1e6
    p50 = said["latency_ms"]["p50"]
    assert np.median(whole) == pytest.approx(p50, rel=0.1, abs=0.03)


def test_a_server_that_sleeps_before_it_accepts(tmp_path: Path) -> None:
    load = ("-c", "1", "--rate", "100", "--per-connection", "1")
    found, _ = followed(tmp_path, "accept", *load)
    queued = np.median([spent[1] for spent in found.spent]) / 1e6
    assert queued == pytest.approx(ACCEPT_S * 1e3, rel=0.15)
    others = np.median([spent[3] + spent[4] for spent in found.spent]) / 1e6
    assert others < 0.5


def test_a_server_that_holds_a_lock(tmp_path: Path) -> None:
    found, _ = followed(tmp_path, "lock")
    blocked = max(ms(slow, BLOCKED) for slow in found.slowest)
    assert blocked == pytest.approx(LOCK_S * 1e3, rel=0.3)
    worst = max(found.slowest, key=lambda slow: ms(slow, BLOCKED))
    assert ms(worst, QUEUED) + ms(worst, RUNNABLE) < 0.3 * blocked


def test_a_server_that_is_paused(tmp_path: Path) -> None:
    def pause(pid: int) -> None:
        time.sleep(SECONDS / 3)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(PAUSED_S)
        os.kill(pid, signal.SIGCONT)

    found, _ = followed(tmp_path, "nothing", meanwhile=pause)
    slow = found.slowest[0]
    assert ms(slow, QUEUED) + ms(slow, BLOCKED) == pytest.approx(PAUSED_S * 1e3, rel=0.2)
    assert ms(slow, ON_THE_WAY) < 10


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may take a CPU before others")
def test_a_server_whose_cpu_another_program_takes(tmp_path: Path) -> None:
    words = ("chrt", "--fifo", "1", sys.executable, "-c", HOG)
    with subprocess.Popen(pinned(min(os.sched_getaffinity(0)), *words)) as hog:
        try:
            found, _ = followed(tmp_path, "nothing")
        finally:
            hog.kill()
    slow = max(found.slowest, key=lambda slow: ms(slow, RUNNABLE))
    assert ms(slow, RUNNABLE) == pytest.approx(HOGGED_S * 1e3, rel=0.3)
    (track,) = (spans for task, spans in slow.tasks.items() if task.endswith(f" {hog.pid}"))
    ran = sum(length for state, _, length in track if state == RUNNING)
    assert ran / 1e6 == pytest.approx(ms(slow, RUNNABLE), rel=0.2)


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
