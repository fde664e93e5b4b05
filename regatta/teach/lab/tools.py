"""Which of the lab's tools this machine has, and what replaces the missing ones."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regatta.measure.perf import probe
from regatta.measure.places.placement import choose_cpus
from regatta.measure.programs import Programs, find_tool, typed
from regatta.record.study.cpus import cpu_list

HOST, PORT = "127.0.0.1", 7342
"""The server's own default."""
PLAINEST = "task-clock"
ONE_CPU = "There is only one CPU: server and client share it and disturb each other."
NO_NC = "There is no nc with the option -N (netcat-openbsd): bash replaces it."
CONNECT = f"exec 3<>/dev/tcp/{HOST}/{PORT}"
"""In bash."""


@dataclass(frozen=True)
class Tools:
    server: str
    client: str
    """The two programs, as a student types them here."""
    server_cpus: tuple[int, ...]
    client_cpus: tuple[int, ...]
    perf: bool
    nc: bool
    lacks: tuple[str, ...]
    """A line for each tool or feature that is missing here."""

    def counted(self, words: Sequence[str], file: Path) -> str:
        """Under perf, or bash's `time`, which writes its counts to the file."""
        if self.perf:
            return shlex.join(["perf", "stat", "-o", str(file), *words])
        return f"{{ time {shlex.join(words)}; }} 2> {shlex.quote(str(file))}"

    def request(self) -> str:
        """One request by hand; its reply ends with an empty line."""
        if self.nc:
            return f"echo top 2 | nc -N {HOST} {PORT}"
        return "bash -c " + shlex.quote(f"{CONNECT}; echo top 2 >&3; sed '/^$/q' <&3")

    def silent_client(self) -> str:
        """Connects and sends nothing for a while."""
        return f"sleep 20 | nc {HOST} {PORT}" if self.nc else f"bash -c '{CONNECT}; sleep 20'"


def pinned(words: Sequence[str], cpus: Sequence[int]) -> list[str]:
    return ["taskset", "-c", cpu_list(cpus), *words]


def find_tools(programs: Programs) -> Tools:
    server_cpus = client_cpus = allowed = tuple(sorted(os.sched_getaffinity(0)))
    if len(allowed) > 1:
        server_cpus, client_cpus = choose_cpus(None, None, allowed)
    perf, nc = probe((PLAINEST,)), can_end(find_tool("nc"))
    notes = {
        ONE_CPU: len(allowed) > 1,
        f"{perf.note} (bash's `time` replaces it).": perf.path is not None,
        NO_NC: nc,
    }
    return Tools(
        server=typed(programs.server),
        client=typed(programs.client),
        server_cpus=server_cpus,
        client_cpus=client_cpus,
        perf=perf.path is not None,
        nc=nc,
        lacks=tuple(note for note, is_well in notes.items() if not is_well),
    )


def can_end(nc: str | None) -> bool:
    """Whether this nc has -N: it ends its input and still waits for the answer."""
    if nc is None:
        return False
    usage = subprocess.run([nc, "-h"], capture_output=True, text=True, check=False, timeout=10)
    return "-N" in usage.stdout + usage.stderr
