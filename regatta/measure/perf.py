"""What perf stat can count on this machine, the commands that start it, and the pipes that
control it.
"""

import os
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from regatta.errors import CounterError, TrialError
from regatta.measure.accounts import cgroup
from regatta.measure.processes import read_text
from regatta.measure.programs import find_tool
from regatta.record.counters import COUNTED, PERF_NAMES, TOPDOWN
from regatta.record.perf_output import parse_output

ACK_TIMEOUT_S = 10
READS_WRITES = os.O_RDONLY | os.O_CLOEXEC, os.O_WRONLY | os.O_CLOEXEC


class Control:
    """The two named pipes to one perf, or to regatta-trace.

    Unlike descriptors, the workload does not inherit them.
    """

    def __init__(self, folder: Path, side: str) -> None:
        self.paths = control, ack = folder / f"{side}.control", folder / f"{side}.ack"
        for path in self.paths:
            path.unlink(missing_ok=True)  # left by the client of the previous slice
            os.mkfifo(path, 0o600)
        # O_RDWR, so that opening does not block until perf opens the other end.
        self.control_fd = os.open(control, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self.ack_fd = os.open(ack, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def send(self, command: str) -> None:
        os.write(self.control_fd, command.encode() + b"\n")

    def wait(self) -> None:
        """Waits until perf confirms the last command with `ack`."""
        deadline = time.monotonic() + ACK_TIMEOUT_S
        received = b""
        poll = select.poll()
        poll.register(self.ack_fd, select.POLLIN)
        while not received.endswith(b"ack\n"):
            left_ms = (deadline - time.monotonic()) * 1000
            if left_ms <= 0 or not poll.poll(left_ms):
                raise TrialError(f"what counts did not answer within {ACK_TIMEOUT_S} s")
            piece = os.read(self.ack_fd, 64)
            if not piece:
                raise TrialError("what counts exited before the end of the trial")
            # perf ends its answer with a NUL byte.
            received += piece.replace(b"\0", b"")

    @contextmanager
    def ends(self) -> Iterator[tuple[int, int]]:
        """The other ends, for a program that reads commands and writes answers."""
        ends = [os.open(path, flags) for path, flags in zip(self.paths, READS_WRITES, strict=True)]
        try:
            yield ends[0], ends[1]
        finally:
            for end in ends:
                os.close(end)

    def close(self) -> None:
        os.close(self.control_fd)
        os.close(self.ack_fd)


GROUP, THREADS = "control group", "threads"
# Takes perf's place where there is none: like perf, it has the program as its only child.
PARENT = ("/bin/sh", "-c", '"$@"; exit $?', "parent")


@dataclass(frozen=True)
class Perf:
    """What perf can count on this machine; without a path nothing, and `note` says why."""

    path: str | None = None
    version: str | None = None
    openable: tuple[str, ...] = ()
    metric_group: str | None = None
    note: str | None = None
    by_group: bool = False
    """It can count a control group, instead of counters that threads inherit."""
    is_off: bool = False
    """The user switched it off."""
    no_samples: str | None = None
    """Why it cannot sample what the CPUs do; None if it can."""

    @property
    def follows(self) -> str | None:
        """What counters are attached to, for the environment in the ledger."""
        if self.path is None:
            return None
        return GROUP if self.by_group else THREADS

    def arguments(self, wanted: Sequence[str]) -> list[str]:
        """The options that select as many of the wanted events as can be opened."""
        names = [PERF_NAMES.get(event, event) for event in wanted if event in self.openable]
        arguments = ["-e", ",".join(names)] if names else []
        if TOPDOWN in wanted and self.metric_group:
            arguments += ["-M", self.metric_group]
        return arguments

    def command(
        self,
        side: str,
        wanted: Sequence[str],
        group: str | None = None,
        cpus: Sequence[int] = (),
        pid: int | None = None,
    ) -> list[str] | None:
        """The command to put before a workload, with counting disabled; files are named by side.

        `group`: the control group to count on these CPUs; None: threads inherit counters. `pid`: a
        running program, to which perf is attached until SIGINT.
        """
        arguments = self.arguments(wanted)
        if self.path is None or not arguments:
            return None
        control = f"fifo:{side}.control,{side}.ack"
        options = ["-j", "-o", f"{side}.perf", "-D", "-1", "--control", control]
        if group is not None:
            options += following(group, cpus)
        elif pid is not None:
            options += ["--pid", str(pid)]
        return [self.path, "stat", *options, *arguments, *(["--"] if pid is None else [])]

    def whole_command(self, side: str, wanted: Sequence[str]) -> list[str]:
        """The command to put before a program that is counted from exec to exit."""
        arguments = self.arguments(wanted)
        if self.path is None or not arguments:
            return list(PARENT)
        return [self.path, "stat", "-j", "-o", f"{side}.perf", *arguments, "--"]


def recorder(path: str, name: str, frequency: int, cpus: Sequence[int]) -> list[str]:
    """The command that samples the stacks of CPUs, with sampling disabled, until SIGTERM.

    Its buffers hold some seconds, so that it seldom wakes up within a window. Its thread that
    watches for BPF programs would delay its end by half a second.
    """
    options = [
        "-q",
        "-N",
        "-B",
        "--no-bpf-event",
        "-m",
        "8M",
        "-F",
        str(frequency),
        "-e",
        "cpu-clock",
        "-g",
    ]
    options += ["-D", "-1", "--control", f"fifo:{name}.control,{name}.ack"]
    return [path, "record", *options, "-C", ",".join(map(str, cpus)), "-o", f"{name}.data"]


def script(path: str, name: str) -> list[str]:
    """The command that prints the samples: thread and process, then a line a frame; and forks."""
    options = ["--no-inline", "--show-task-events", "-F", "comm,pid,ip,sym,dso"]
    return [path, "script", *options, "-i", f"{name}.data"]


def following(group: str, cpus: Sequence[int]) -> list[str]:
    """Options that count everything that runs in a control group on these CPUs."""
    return ["-a", "-C", ",".join(map(str, cpus)), "--for-each-cgroup", group]


PROBE_TIMEOUT_S = 20
SYMBOLS = Path("/proc/kallsyms")
PLAINEST = "task-clock"  # a perf that cannot count this can count nothing
# Intel's and AMD's groups of the same four metrics. AMD's fifth (SMT contention) is ignored.
TOPDOWN_GROUPS = ("TopdownL1", "PipelineL1")


def attempt(command: Sequence[str], folder: str | None = None) -> tuple[bool, str]:
    """Whether perf runs a command that does nothing, and its stderr or why it does not start."""
    try:
        run = subprocess.run(
            [*command, "--", "true"],
            capture_output=True,
            text=True,
            errors="replace",
            cwd=folder,
            timeout=PROBE_TIMEOUT_S,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    return run.returncode == 0, run.stderr


def try_stat(path: str, arguments: Sequence[str]) -> tuple[str | None, str]:
    """perf's JSON for a command that does nothing, or None if it failed, and its stderr."""
    # perf writes both its counters and its errors to stderr.
    succeeded, said = attempt([path, "stat", "-j", *arguments])
    return (said if succeeded else None), said


def openable_events(path: str, events: Sequence[str]) -> list[str]:
    """The events that perf accepts: one unknown event would make it reject all of them."""
    names = [PERF_NAMES.get(event, event) for event in events]
    if not names or try_stat(path, ["-e", ",".join(names)])[0] is not None:
        return list(events)
    return [
        event
        for event, name in zip(events, names, strict=True)
        if try_stat(path, ["-e", name])[0] is not None
    ]


def find_metric_group(path: str) -> str | None:
    """The top-down metric group of this CPU, if perf knows one and can count its events."""
    for group in TOPDOWN_GROUPS:
        text, _ = try_stat(path, ["-M", group])
        if text is None:
            continue
        try:
            output = parse_output(text)
        except CounterError:
            continue
        if any(metric.state == COUNTED for _, metric in output.metrics):
            return group
    return None


def probe(events: Sequence[str]) -> Perf:
    """Asks perf, once per race, which events it can open here."""
    path = find_tool("perf")
    if path is None:
        return Perf(
            note="perf is not installed: only the kernel's own accounting is recorded; "
            "install the package linux-perf (Debian) or linux-tools-generic (Ubuntu)"
        )
    version_run = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    version = version_run.stdout.strip() or None
    text, complaint = try_stat(path, ["-e", PLAINEST])
    if text is None:
        lines = [line for line in complaint.splitlines() if line.strip()]
        reason = lines[0].strip() if lines else "it cannot count"
        paranoid = read_text("/proc/sys/kernel/perf_event_paranoid") or "unknown"
        return Perf(
            note=f"perf cannot be used (kernel.perf_event_paranoid is {paranoid}; {reason}): "
            "only the kernel's own accounting is recorded; run as root, or lower that setting"
        )
    wanted = [event for event in events if event != TOPDOWN]
    openable = openable_events(path, list(dict.fromkeys((PLAINEST, *wanted))))
    group = find_metric_group(path) if TOPDOWN in events else None
    return Perf(
        path,
        version,
        tuple(openable),
        group,
        by_group=can_follow(path),
        no_samples=why_no_samples(path),
    )


def why_no_samples(path: str) -> str | None:
    """Why the stacks of CPUs cannot be sampled, or say nothing; None if they can."""
    with TemporaryDirectory() as folder, closing(Control(Path(folder), "probe")):
        cpu = min(os.sched_getaffinity(0))
        succeeded, said = attempt(recorder(path, "probe", 99, [cpu]), folder)
    if not succeeded:
        lines = [line.strip() for line in said.splitlines() if line.strip(" :")]
        return next((line for line in lines if line.strip(":") != "Error"), "perf record fails")
    with suppress(OSError), SYMBOLS.open() as symbols:
        if int(symbols.readline().split()[0], 16):
            return None
    return "the kernel hides the names of its functions (kernel.kptr_restrict)"


def common(found: Sequence[Perf]) -> Perf:
    """What perf can count on all hosts."""
    first, *others = found
    for other in others:
        if first.path is None or other.path is None:
            return Perf(note=first.note or other.note)
        same = first.metric_group == other.metric_group
        first = replace(
            first,
            path=first.path if first.path == other.path else "perf",
            openable=tuple(event for event in first.openable if event in other.openable),
            metric_group=first.metric_group if same else None,
            by_group=first.by_group and other.by_group,
            no_samples=first.no_samples or other.no_samples,
        )
    return first


def can_follow(path: str) -> bool:
    """True if perf can count a control group, which takes privileges and perf 5.11."""
    home = cgroup.find_home()
    if home is None:
        return False
    group = home.make()
    try:
        found = try_stat(path, [*following(group.name, (0,)), "-e", PLAINEST])[0]
    finally:
        group.close()
    return found is not None
