"""What of the hour's tools this machine has, what it lacks, and what stands in for that."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regatta.machine import perf
from regatta.machine.environment import kernel
from regatta.machine.perf_output import read_counters
from regatta.machine.placement import choose_cpus
from regatta.machine.programs import Programs, find_tool, typed
from regatta.study.cpus import cpu_list

PORT = 7342
"""The server's own default."""
PLAINEST, HARDWARE = "task-clock", "cycles"
SHELL = 'exec 2> "$1"; shift; time "$@"'
"""Of bash, to count a program where there is no perf."""


@dataclass(frozen=True)
class Tools:
    """What commands are made of here."""

    server: str
    client: str
    """The two programs, as a person types them here."""
    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    perf: bool
    taskset: bool
    nc: bool
    lacks: tuple[str, ...]
    """A line for each thing that is not as it should be."""

    def pinned(self, words: Sequence[str], cpus: Sequence[int]) -> list[str]:
        """On these CPUs; without taskset by the program's own option."""
        if self.taskset:
            return ["taskset", "-c", cpu_list(cpus), *words]
        return [*words, "--cpus", cpu_list(cpus)]

    def counted(self, words: Sequence[str], file: Path) -> list[str]:
        """As it is run; what was counted is in the file when it has ended."""
        if self.perf:
            return ["perf", "stat", "-o", str(file), *words]
        return ["bash", "-c", SHELL, "bash", str(file), *words]

    def counted_line(self, words: Sequence[str], file: Path) -> str:
        """The same, as a person types it."""
        if self.perf:
            return shlex.join(self.counted(words, file))
        return f"{{ time {shlex.join(words)}; }} 2> {shlex.quote(str(file))}"

    def asking_line(self) -> str:
        """One question by hand."""
        if self.nc:
            return f"echo top 2 | nc -N 127.0.0.1 {PORT}"
        return f"bash -c {shlex.quote(self.talk(f'127.0.0.1:{PORT}'))}"

    def talk(self, address: str) -> str:
        """The same without nc, for bash: the reply ends with an empty line."""
        host, port = address.split(":")
        return f"exec 3<>/dev/tcp/{host}/{port}; echo top 2 >&3; sed '/^$/q' <&3"

    def silent_line(self) -> str:
        """A client that connects, and says nothing for a while."""
        if self.nc:
            return f"sleep 20 | nc 127.0.0.1 {PORT}"
        return f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{PORT}; sleep 20'"


def find_tools(programs: Programs) -> Tools:
    lacks: list[str] = []
    if "microsoft" in kernel().lower():
        lacks.append(
            "This is WSL 2, a virtual machine that shares its CPUs with Windows: close what you "
            "can there while a race runs."
        )
    server_cpus, client_cpus = find_cpus(lacks)
    has_perf = find_perf(lacks)
    has_taskset = find_tool("taskset") is not None
    if not has_taskset:
        lacks.append("There is no taskset (package util-linux): the programs' own --cpus pins.")
    has_nc = can_end(find_tool("nc"))
    if not has_nc:
        lacks.append(
            "There is no nc that knows -N (package netcat-openbsd): bash opens the connection."
        )
    return Tools(
        server=typed(programs.server),
        client=typed(programs.client),
        server_cpus=server_cpus,
        client_cpus=client_cpus,
        perf=has_perf,
        taskset=has_taskset,
        nc=has_nc,
        lacks=tuple(lacks),
    )


def find_cpus(lacks: list[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Those of the server and of the client, as a race chooses them."""
    allowed = tuple(sorted(os.sched_getaffinity(0)))
    if len(allowed) > 1:
        return choose_cpus(None, None, allowed)
    lacks.append("There is only one CPU: server and client share it, and disturb each other.")
    return allowed, allowed


def find_perf(lacks: list[str]) -> bool:
    found = perf.probe((PLAINEST,))
    if found.path is None:
        lacks.append(f"{found.note} (here bash's `time` stands in).")
        return False
    text, _ = perf.try_stat(found.path, ["-e", HARDWARE])
    counters = read_counters(text, (HARDWARE,)) if text is not None else []
    if not any(counter.value is not None for counter in counters):
        lacks.append(
            "This machine has no hardware counters, as most virtual machines: cycles and "
            "instructions stay “not supported”."
        )
    if text is not None and f"{HARDWARE}:u" in text:
        lacks.append(
            "perf counts user space alone here, and little of a server's work is there: count as "
            "root, or after sysctl kernel.perf_event_paranoid=1."
        )
    return True


def can_end(nc: str | None) -> bool:
    """Whether this nc can end sending and still wait for the answer: some know no -N."""
    if nc is None:
        return False
    told = subprocess.run([nc, "-h"], capture_output=True, text=True, check=False, timeout=10)
    return "-N" in told.stdout + told.stderr
