"""Which of the lab's tools this machine has, and what replaces the missing ones."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regatta.measure.perf import probe, try_stat
from regatta.measure.places.placement import choose_cpus
from regatta.measure.programs import Programs, find_tool, typed
from regatta.record.perf_output import read_counters
from regatta.record.study.cpus import cpu_list

HOST, PORT = "127.0.0.1", 7342
"""The server's own default."""
PLAINEST, HARDWARE = "task-clock", "cycles"


@dataclass(frozen=True)
class Tools:
    server: str
    client: str
    """The two programs, as a student types them here."""
    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    perf: bool
    taskset: bool
    nc: bool
    lacks: tuple[str, ...]
    """A line for each tool or feature that is missing here."""

    def pinned(self, words: Sequence[str], cpus: Sequence[int]) -> list[str]:
        """Pinned to these CPUs; without taskset by the program's own option."""
        if self.taskset:
            return ["taskset", "-c", cpu_list(cpus), *words]
        return [*words, "--cpus", cpu_list(cpus)]

    def counted(self, words: Sequence[str], file: Path) -> str:
        """Under perf, or bash's `time`, which writes its counts to the file."""
        if self.perf:
            return shlex.join(["perf", "stat", "-o", str(file), *words])
        return f"{{ time {shlex.join(words)}; }} 2> {shlex.quote(str(file))}"

    def request(self) -> str:
        """One request by hand; its reply ends with an empty line."""
        if self.nc:
            return f"echo top 2 | nc -N {HOST} {PORT}"
        typed = f"exec 3<>/dev/tcp/{HOST}/{PORT}; echo top 2 >&3; sed '/^$/q' <&3"
        return f"bash -c {shlex.quote(typed)}"

    def silent_client(self) -> str:
        """Connects and sends nothing for a while."""
        if self.nc:
            return f"sleep 20 | nc {HOST} {PORT}"
        return f"bash -c 'exec 3<>/dev/tcp/{HOST}/{PORT}; sleep 20'"


def find_tools(programs: Programs) -> Tools:
    lacks: list[str] = []
    server_cpus = client_cpus = allowed = tuple(sorted(os.sched_getaffinity(0)))
    if len(allowed) > 1:
        server_cpus, client_cpus = choose_cpus(None, None, allowed)
    else:
        lacks.append("There is only one CPU: server and client share it and disturb each other.")
    perf, taskset, nc = find_perf(lacks), find_tool("taskset") is not None, can_end(find_tool("nc"))
    if not taskset:
        lacks.append(
            "taskset is missing (package util-linux): the programs' own option --cpus replaces it."
        )
    if not nc:
        lacks.append(
            "There is no nc with the option -N (package netcat-openbsd): bash replaces it."
        )
    client = typed(programs.client)
    return Tools(
        typed(programs.server), client, server_cpus, client_cpus, perf, taskset, nc, tuple(lacks)
    )


def find_perf(lacks: list[str]) -> bool:
    found = probe((PLAINEST,))
    if found.path is None:
        lacks.append(f"{found.note} (bash's `time` replaces it).")
        return False
    text, _ = try_stat(found.path, ["-e", HARDWARE])
    counters = read_counters(text, (HARDWARE,)) if text is not None else []
    if not any(counter.value is not None for counter in counters):
        lacks.append(
            "This machine has no hardware counters, like most virtual machines: cycles and "
            "instructions stay “not supported”."
        )
    if text is not None and f"{HARDWARE}:u" in text:
        lacks.append(
            "perf counts user space only here, but most of a server's work happens in the kernel: "
            "run the lab as root, or set sysctl kernel.perf_event_paranoid=1 first."
        )
    return True


def can_end(nc: str | None) -> bool:
    """Whether this nc has -N: it ends its input and still waits for the answer."""
    if nc is None:
        return False
    usage = subprocess.run([nc, "-h"], capture_output=True, text=True, check=False, timeout=10)
    return "-N" in usage.stdout + usage.stderr
