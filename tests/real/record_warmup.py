"""Record how a server warms up: the files of tests/lab/fixtures/warmup.

usage: python -m tests.real.record_warmup NAME...

One fresh process on CPU 0, asked from CPU 1 by one regatta-client that keeps its connections. Every
0.25 s the CPU time of all that runs in the server's control group is read (as root)."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path

import numpy as np

from regatta.judge.statistics.percentiles import nearest_rank
from regatta.measure.accounts.cgroup import ControlGroup, find_home
from regatta.measure.processes import BUSY, NS_PER_TICK, parse_cpus
from regatta.record.samples import ANSWERED, UNSTARTED, records_in
from tests.servers import program
from tests.sockets import free_port, wait_until_accepting

SERVERS = Path(__file__).parent / "servers"
RECORDINGS = Path(__file__).parents[1] / "lab/fixtures/warmup"
SLICE_S = 0.25
CONNECTIONS = 10


@dataclass(frozen=True)
class Server:
    command: str
    """Run in the servers' folder; the port is its last argument, if it does not say where."""
    rate: int = 3000
    seconds: int = 20
    build: str = ""
    path: str = "/"


PHP_JIT = "-d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing"
EPOLL = "{bin}/regatta-server -q --design epoll --work snapshot --listen 127.0.0.1:{port}"
PUMA = "ruby --yjit -S puma -q -t 10:10 -b tcp://127.0.0.1:{port} app.ru"
JAVAC = "javac -d {build} java-http/Server.java"
GO = "go build -C go -o {build}/go-http ./http"
RECORDED = {
    "node-http": Server("node node.js", seconds=24),
    "java-http": Server("java -cp {build} Server", seconds=30, build=JAVAC),
    "go-http": Server("{build}/go-http", build=GO),
    "python3.12-threads": Server("python3.12 threads.py", rate=1500),
    "php8.2-opcache-jit": Server(f"php {PHP_JIT} loop.php"),
    "ruby3.1-yjit-puma": Server(PUMA, rate=1500, seconds=24),
    "regatta-epoll-snapshot": Server(EPOLL, rate=5000, path="/top"),
}
for curve in ("steady", "cache", "step", "leak", "slow-leak"):
    RECORDED[f"made-up-{curve}"] = Server(f"python3.12 made_up.py {curve}", seconds=30)


def record(name: str) -> dict[str, object]:
    asked = RECORDED[re.sub(r"-again-\d$", "", name)]
    command = asked.command if "{port}" in asked.command else f"{asked.command} {{port}}"
    load = (
        f"-c {CONNECTIONS} --load open --rate {asked.rate} --duration {asked.seconds} --cpus 1 "
        f"--dialect http --path {asked.path}"
    )
    assert (home := find_home()), "control groups need root"
    with tempfile.TemporaryDirectory() as build, closing(home.make()) as group:
        if asked.build:
            subprocess.run(asked.build.format(build=build).split(), cwd=SERVERS, check=True)
        port, samples = free_port(), Path(build) / "samples"
        words = command.format(build=build, port=port, bin=Path(program("")).absolute()).split()
        began = time.monotonic()
        server = subprocess.Popen(
            ["taskset", "-c", "0", *group.entering(words)], cwd=SERVERS, stderr=subprocess.DEVNULL
        )
        wait_until_accepting(server, port)
        ready_s = round(time.monotonic() - began, 3)
        client = [program("regatta-client"), *load.split(), "--quiet", "--samples", str(samples)]
        busy_before_ns = busy_ns()
        readings = watch([*client, f"127.0.0.1:{port}"], group)
        took_ns, server_ns = np.subtract(readings[-1], readings[0])
        others = (busy_ns() - busy_before_ns - server_ns) / took_ns
        rows = slices(samples.read_bytes(), readings)
    server.wait()
    return {
        "recorded": f"{date.today()}, virtual machine of two CPUs, others had {others:.0%} of CPU 0"
        f"; make it again with: python -m tests.real.record_warmup {name}",
        "server": command,
        "client": f"regatta-client {load}",
        "ready_s": ready_s,
        "columns": ["end_s", "requests", "server_cpu_ns", "p50_ns", "p99_ns"],
        "slices": rows,
    }


def busy_ns() -> int:
    """How long CPU 0 was busy so far."""
    cpu = parse_cpus(Path("/proc/stat").read_text())[0]
    return sum(cpu[column] for column in BUSY) * NS_PER_TICK


def watch(client: Sequence[str], group: ControlGroup) -> list[tuple[int, int]]:
    """The moment and the CPU time so far, every 0.25 s while the client runs."""
    readings = []
    with subprocess.Popen(client, stdout=subprocess.DEVNULL) as running:
        due = time.monotonic()
        while running.poll() is None:
            readings.append((time.monotonic_ns(), group.charged_ns()))
            due += SLICE_S
            time.sleep(max(0.0, due - time.monotonic()))
    assert running.returncode == 0, "the client failed"
    return readings


def slices(samples: bytes, readings: Sequence[tuple[int, int]]) -> list[Sequence[float]]:
    """A row per slice, of the requests whose answers ended in it."""
    every = records_in(samples)
    assert set(every["error"]) <= {ANSWERED, UNSTARTED}, "requests failed"
    answered = every[every["error"] == ANSWERED]
    took, ended = answered["end_ns"] - answered["start_ns"], answered["end_ns"]
    rows: list[Sequence[float]] = []
    for (from_ns, before), (to_ns, after) in pairwise(readings):
        inside = took[(from_ns <= ended) & (ended < to_ns)]
        if len(inside):
            quantiles = (int(nearest_rank(inside, share)) for share in (0.5, 0.99))
            end_s = round((to_ns - int(every["start_ns"].min())) / 1e9, 3)
            rows.append([end_s, len(inside), after - before, *quantiles])
    return rows


if __name__ == "__main__":
    os.nice(-20)  # other work on the machine must not delay it
    for name in sys.argv[1:] or RECORDED:
        text = re.sub(r"\n   *(?=[\d\]])", " ", json.dumps(record(name), indent=1))
        (RECORDINGS / f"{name}.json").write_text(text.replace("[ ", "[").replace(" ]", "]") + "\n")
