"""A program in a container of its own: started by the engine, counted from outside.

The engine's own processes are not the program's: it is found by asking the engine, its CPU time is
that of its container's control group, and perf is started beside it once it is up.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from regatta.errors import PlacementError
from regatta.machine import cgroup
from regatta.machine.containers.engine import Engine
from regatta.machine.containers.line import DialledLine
from regatta.machine.guard import guard_environment, guarded
from regatta.machine.perf import Control
from regatta.machine.programs import find_tool
from regatta.machine.started import Order, Started
from regatta.study.cpus import cpu_list

END_TIMEOUT_S = 10
# Of a container: it dies at once when it is removed; its number of threads is not the engine's
# business; what it prints goes to its files and to no journal; and it may use what is mounted.
ALWAYS = (
    *("--rm", "--pull", "never", "--stop-timeout", "0", "--pids-limit", "-1"),
    *("--log-driver", "none", "--security-opt", "label=disable"),
)


class Home(Protocol):
    """What a side in containers knows."""

    @property
    def cpus(self) -> tuple[int, ...]: ...
    @property
    def groups(self) -> cgroup.Home | None: ...
    @property
    def engine(self) -> Engine: ...
    @property
    def label(self) -> str: ...
    @property
    def network(self) -> str: ...
    @property
    def image(self) -> str: ...
    @property
    def mounts(self) -> tuple[Path, ...]: ...


def box(home: Home, name: str) -> list[str]:
    """The options that every container of a side has."""
    words = [*ALWAYS, "--name", name, "--label", home.label, "--network", home.network]
    return [*words, "--cpuset-cpus", ",".join(map(str, home.cpus))]


def mount(path: Path, *, read_only: bool) -> list[str]:
    """What is mounted lies where it lies on the host: no path has to be translated."""
    return ["--mount", f"type=bind,source={path},target={path}{',readonly' * read_only}"]


def run_words(home: Home, order: Order, name: str) -> list[str]:
    """What the engine is told: the order's program, in a container."""
    program = list(order.program)
    shown = list(home.mounts)
    if order.image is None:
        found = Path(find_tool(program[0]) or program[0]).absolute()
        program[0] = str(found)
        shown.append(found)
    if isinstance(order.line, DialledLine):
        shown.append(order.line.dial)
        program = order.line.before(program)
    words = ["run", *box(home, name), "--workdir", str(order.folder)]
    words += mount(order.folder, read_only=False)
    for path in dict.fromkeys(shown):
        words += mount(path, read_only=True)
    for key, value in {"LC_ALL": "C", **order.environment}.items():
        words += ["--env", f"{key}={value}"]
    return [*words, "--entrypoint", program[0], order.image or home.image, *program[1:]]


class ContainerProgram(Started):
    """What the lab waits for is the engine's `run`, which ends with the program's status."""

    def __init__(self, home: Home, order: Order, name: str) -> None:
        self.home = home
        self.order = order
        self.name = name
        self.perf: subprocess.Popen[bytes] | None = None
        self.process = order.open(guarded(home.engine.command(*run_words(home, order, name))))

    def find(self) -> int:
        try:
            said = self.home.engine.run("inspect", "--format", "{{.State.Pid}}", self.name)
        except PlacementError as error:
            raise LookupError(f"was not found in its container ({error})") from error
        pid = int(said) if said.isdigit() else 0
        if pid == 0:
            raise LookupError("does not run in its container")
        check_cpus(pid, self.home.cpus)
        if self.home.groups is not None:
            self.group = cgroup.group_of(pid)
        self.count(pid)
        return pid

    def count(self, pid: int) -> None:
        """Starts perf beside it."""
        order, group = self.order, self.group
        follow = group.name if group is not None and order.perf.by_group else None
        if not order.wanted:
            return
        command = order.perf.attached_command(order.name, order.wanted, pid, follow, self.home.cpus)
        if command is None:
            return
        self.control = Control(order.folder, order.name)
        with (order.folder / f"{order.name}.perf.stderr").open("wb") as stderr:
            self.perf = subprocess.Popen(
                guarded(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                cwd=order.folder,
                env=guard_environment(),
                start_new_session=True,
            )
        self.counting = True

    def settle(self) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(END_TIMEOUT_S)

    def finish(self) -> None:
        if self.perf is None:
            return
        self.perf.send_signal(signal.SIGINT)
        try:
            self.perf.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.perf.kill()

    def kill(self) -> None:
        ended = self.process.poll() is not None
        super().kill()
        if self.perf is not None:
            self.perf.kill()
            self.perf.wait()
        if not ended:
            with suppress(PlacementError):  # it may not have been made, or be gone by itself
                self.home.engine.run("rm", "--force", self.name)


def check_cpus(pid: int, cpus: Sequence[int]) -> None:
    """What an engine is told and a kernel does may differ."""
    strange = os.sched_getaffinity(pid) - set(cpus)
    if strange:
        raise LookupError(
            f"may run on CPU {cpu_list(sorted(strange))}, which is not its side's: the engine has "
            "no cpuset here"
        )
