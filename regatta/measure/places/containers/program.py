"""A program in its own container, started by the engine and counted from outside, and the channel
to it: a socket in a folder that is mounted there.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from regatta.errors import PlacementError
from regatta.measure.accounts import cgroup, disturbance
from regatta.measure.perf import Control
from regatta.measure.places.containers.engine import IMAGE, Engine, mount, mount_system
from regatta.measure.places.containers.reaper import Reaper
from regatta.measure.places.side import Channel, ProgramSpec, SidePlacement, StartedProgram
from regatta.measure.processes import guard_environment, guarded
from regatta.measure.programs import find_tool
from regatta.record.study.cpus import cpu_list

# `regatta-dial`, mounted with the program, connects to the socket, makes that its descriptor 3 and
# execs the program.


class DialledChannel(Channel):
    number = 3  # src/programs/regatta_dial.c

    def __init__(self, folder: Path, name: str, dial: Path) -> None:
        self.path = folder / f"{name}.channel"
        self.dial = dial
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.path.unlink(missing_ok=True)
        # Through the folder's descriptor, as a socket's path may have at most 107 bytes.
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self.listener.bind(f"/proc/self/fd/{opened}/{self.path.name}")
            self.listener.listen(1)
        except BaseException:
            self.listener.close()
            raise
        finally:
            os.close(opened)

    def started(self) -> None:
        """Nothing to close: the program connects by itself."""

    def before(self, program: list[str]) -> list[str]:
        return [str(self.dial), self.path.name, *program]

    def wait_connected(self, deadline: float, starter: int) -> socket.socket:
        if self.near is not None:
            return self.near
        starter_fd = os.pidfd_open(starter)
        try:
            poll = select.poll()
            poll.register(self.listener, select.POLLIN)
            poll.register(starter_fd, select.POLLIN)
            ready = {fd for fd, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1000)}
        finally:
            os.close(starter_fd)
        if self.listener.fileno() in ready:
            self.near, _ = self.listener.accept()
            return self.near
        raise EOFError if ready else TimeoutError

    def close(self) -> None:
        super().close()
        self.listener.close()
        with suppress(OSError):
            self.path.unlink()


# A program in its own container: started by the engine, counted from outside. The engine tells its
# process id. Its CPU time is that of the container's control group, without the engine's processes,
# and perf is attached once it runs.

END_TIMEOUT_S = 10
# A container is killed at once when removed, may have any number of threads, writes its output to
# our files and no journal, and may use its mounts under SELinux.
ALWAYS = (
    *("--rm", "--pull", "never", "--stop-timeout", "0", "--pids-limit", "-1"),
    *("--log-driver", "none", "--security-opt", "label=disable"),
)


NO_WHOLE = (
    "perf cannot count a program in a container from its first instruction: "
    'scope = "process" is not possible with containers'
)


@dataclass(frozen=True, kw_only=True)
class ContainerSide(SidePlacement):
    engine: Engine
    leash: Reaper
    network: str
    """Its name for the engine: `host`, `bridge`, `none` or `container:NAME`."""
    mounts: tuple[Path, ...] = ()
    dial: Path | None = None

    def start(self, order: ProgramSpec) -> StartedProgram:
        if order.whole:
            raise PlacementError(NO_WHOLE)
        return ContainerProgram(self, order, self.leash.name())

    def channel(self, folder: Path, name: str) -> Channel:
        if self.dial is None:
            raise PlacementError("regatta-dial was not found; run `make build`")
        return DialledChannel(folder, name, self.dial)


def boxed(
    home: ContainerSide,
    name: str,
    program: Sequence[str] = (),
    options: Sequence[str] = (),
    image: str | None = None,
) -> list[str]:
    """The engine's arguments to run a program in a container of a side.

    `program`: empty: the image's own command; `image`: None: ours.
    """
    words = ["run", *ALWAYS, "--name", name, "--label", home.leash.label, "--network", home.network]
    words += ["--cpuset-cpus", ",".join(map(str, home.cpus))]
    if image is None:
        words += mount_system()
    words += options
    if program:
        words += ["--entrypoint", program[0]]
    return [*words, image or IMAGE, *program[1:]]


def run_words(home: ContainerSide, order: ProgramSpec, name: str) -> list[str]:
    if not order.program:  # the image's own command, in the image's own folder
        return boxed(home, name, image=order.image)
    program = list(order.program)
    shown = list(home.mounts)
    if order.image is None:
        found = Path(find_tool(program[0]) or program[0]).absolute()
        program[0] = str(found)
        shown.append(found)
    if isinstance(order.channel, DialledChannel):
        shown.append(order.channel.dial)
        program = order.channel.before(program)
    options = ["--workdir", str(order.folder), *mount(order.folder, read_only=False)]
    for path in dict.fromkeys(shown):
        options += mount(path)
    for key, value in {"LC_ALL": "C", **order.environment}.items():
        options += ["--env", f"{key}={value}"]
    return boxed(home, name, program, options, order.image)


class ContainerProgram(StartedProgram):
    """The lab waits for the engine's `run`, which exits with the program's status."""

    def __init__(self, home: ContainerSide, order: ProgramSpec, name: str) -> None:
        self.home = home
        self.order = order
        self.name = name
        self.perf: subprocess.Popen[bytes] | None = None
        self.pid = 0
        """Of the program itself, once it is found."""
        self.process = order.open(guarded(home.engine.command(*run_words(home, order, name))))

    def find(self) -> int:
        try:
            said = self.home.engine.run("inspect", "--format", "{{.State.Pid}}", self.name)
        except PlacementError as error:
            raise LookupError(f"was not found in its container ({error})") from error
        pid = int(said) if said.isdigit() else 0
        if pid == 0:
            raise LookupError("is not running in its container")
        check_cpus(pid, self.home.cpus)
        self.pid = pid
        disturbance.adopted.add(pid)
        if self.home.groups is not None:
            self.group = cgroup.group_of(pid)
        self.count(pid)
        return pid

    def count(self, pid: int) -> None:
        """Attaches perf to it."""
        order, group = self.order, self.group
        follow = group.name if group is not None and order.perf.by_group else None
        if not order.wanted:
            return
        command = order.perf.command(order.name, order.wanted, follow, self.home.cpus, pid)
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
        disturbance.adopted.discard(self.pid)
        ended = self.process.poll() is not None
        super().kill()
        if self.perf is not None:
            self.perf.kill()
            self.perf.wait()
        if not ended:
            with suppress(PlacementError):  # it may not have started, or have ended
                self.home.engine.run("rm", "--force", self.name)


def check_cpus(pid: int, cpus: Sequence[int]) -> None:
    """LookupError unless the engine has put the program on its side's CPUs."""
    strange = os.sched_getaffinity(pid) - set(cpus)
    if strange:
        raise LookupError(
            f"may run on CPU {cpu_list(sorted(strange))} of another side: the engine cannot limit "
            "CPUs here (no cpuset controller)"
        )
