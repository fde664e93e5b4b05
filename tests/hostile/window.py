"""One measurement: ordinary clients at an even rate, with or without an attack."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regatta.measure.processes import NS_PER_TICK, PROC, STEAL, parse_cpus
from tests.e2e.scripted_servers import Gated
from tests.hostile.cases import Case
from tests.processes import resident_kib
from tests.servers import AS_US, ListedDesign, RunningServer, running
from tests.sockets import established

CLIENTS = 100
RATE_PER_S = 500
REQUESTS_PER_CONNECTION = 10
"""In designs where a kept connection does not block other clients."""
CPUS = sorted(os.sched_getaffinity(0))
SERVER_CPU, CLIENT_CPU = str(CPUS[0]), str(CPUS[-1])
IS_ROOT = os.geteuid() == 0
AHEAD = ("nice", "-n", "-20") if IS_ROOT else ()
"""Priority over other programs. Not real-time: a real-time process that fills its CPU is throttled
for 50 ms of each second, which would delay ordinary requests."""
SESSION = Path("/proc/self/autogroup")
"""With autogroups nice values count within a session only, this one between sessions (sched(7))."""
ATTACKER = ("taskset", "-c", CLIENT_CPU, "nice", "-n", "-5" if IS_ROOT else "10")
"""Attackers get the rest of the clients' CPU: they must slow down the server, not the clients."""
SETTLED_S = 3.0
LOOK_AGAIN_S = 0.1
LOOKS = 5
TICK_MS = NS_PER_TICK / 1e6


@dataclass(frozen=True)
class Window:
    """`p99_ms`: None if unanswered requests reach p99."""

    p99_ms: float | None
    asked: int
    unanswered: int
    errors: dict[str, int]
    attackers: int
    """Their connections just before the window, the most in some looks."""
    server_mib: float
    """Proportional set size at its end."""
    stolen_ms: float
    """Stolen time of the server's or the clients' CPU, whichever is more."""


@contextlib.contextmanager
def priority_over_other_sessions() -> Iterator[None]:
    """Raises the autogroup priority of this session, if there is one."""
    if not (IS_ROOT and SESSION.exists()):
        yield
        return
    before = SESSION.read_text().split()[-1]
    SESSION.write_text("-20")
    try:
        yield
    finally:
        SESSION.write_text(before)


def requests_per_connection(design: ListedDesign, case: Case | None) -> int:
    """0: unlimited. A kept connection would occupy a worker and block others."""
    if design.serves != "all":
        return 1
    return 0 if case is not None and case.takes_all_room else REQUESTS_PER_CONNECTION


@contextlib.contextmanager
def served(design: ListedDesign, case: Case | None, folder: Path) -> Iterator[RunningServer]:
    options = case.server_options if case is not None else ()
    cpus = ("--cpus", SERVER_CPU)
    snapshot = ("--design", design.name, "--work", "snapshot")
    with running(folder, *AS_US, *cpus, *snapshot, *options, prefix=AHEAD) as server:
        yield server


@contextlib.contextmanager
def attacked(server: RunningServer, case: Case) -> Iterator[None]:
    """Runs an attack with as many connections as the server accepts."""
    before = established(server.port)
    attack = subprocess.Popen(
        [*ATTACKER, *case.attack(server)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        wait_until_attacked(server, before + case.held)
        assert attack.poll() is None, "the attack has ended early"
        yield
        assert attack.poll() is None, "the attack has ended early"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(attack.pid, signal.SIGKILL)
        attack.wait()


def wait_until_attacked(server: RunningServer, wanted: int) -> None:
    """Until the attackers have all their connections, or get no more for a while."""
    most, since = 0, time.monotonic()
    while most < wanted and time.monotonic() - since < SETTLED_S:
        now = established(server.port)
        if now > most:
            most, since = now, time.monotonic()
        time.sleep(LOOK_AGAIN_S)


def stolen_ms() -> list[float]:
    """Stolen time since boot, of the server's and the clients' CPU."""
    ticks = parse_cpus((PROC / "stat").read_text())
    return [ticks[int(cpu)][STEAL] * TICK_MS for cpu in (SERVER_CPU, CLIENT_CPU)]


def measure(design: ListedDesign, case: Case | None, seconds: float, folder: Path) -> Window:
    with served(design, case, folder) as server:
        per_connection = requests_per_connection(design, case)
        client = Gated(
            server,
            f"-c {CLIENTS} --load open --rate {RATE_PER_S} --duration {seconds} --dialect http"
            f" --per-connection {per_connection} --cpus {CLIENT_CPU}",
        )
        if IS_ROOT:
            os.sched_setscheduler(client.process.pid, os.SCHED_FIFO, os.sched_param(1))
        with attacked(server, case) if case is not None and case.held else contextlib.nullcontext():
            # Those that connect again and again are at times all between two connections.
            attackers = max(established(server.port) for _ in range(LOOKS))
            attackers -= CLIENTS if per_connection == 0 else 0
            before = stolen_ms()
            client.go()
            result = client.result()
            stolen = max(now - then for now, then in zip(stolen_ms(), before, strict=True))
            memory = resident_kib(server.process.pid) / 1024
    p99 = result["latency_ns"]["p99"]
    return Window(
        None if p99 is None else p99 / 1e6,
        result["requests"] + result["unstarted"],
        result["requests"] + result["unstarted"] - result["answered"],
        {**result["errors"], "unstarted": result["unstarted"]},
        attackers,
        memory,
        stolen,
    )
