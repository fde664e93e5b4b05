"""The files of /proc that several parts of the lab read: of processes, threads and CPUs."""

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
NS_PER_TICK = 1_000_000_000 // TICKS_A_SECOND

# Columns of a `cpuN` line of /proc/stat.
USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL = range(8)
BY_PROGRAMS = (USER, NICE, SYSTEM)
"""What tasks were charged. Not interrupts: those of a trial are its own packets, and are in no
task's sum where the kernel accounts for them apart; nobody else may be blamed for them."""
BUSY = (*BY_PROGRAMS, IRQ, SOFTIRQ)
"""All that keeps a CPU from a program that wants it, whoever it is for."""

# Fields of /proc/PID/stat by their numbers in proc_pid_stat(5).
PARENT, FLAGS = 4, 9
MINOR_FAULTS, REAPED_MINOR_FAULTS, MAJOR_FAULTS, REAPED_MAJOR_FAULTS = 10, 11, 12, 13
USER_TICKS, SYSTEM_TICKS, REAPED_USER_TICKS, REAPED_SYSTEM_TICKS = 14, 15, 16, 17
THREADS, BEGAN, LAST_CPU = 20, 22, 39
FIRST_NUMBER = 4
KERNEL_THREAD = 0x00200000  # PF_KTHREAD, of the flags


@dataclass(frozen=True)
class Stat:
    """One line of /proc/PID/stat, of a process or of a thread."""

    name: str
    """No terminal obeys it: a process may call itself anything."""
    state: str
    numbers: tuple[int, ...]
    """From field 4 on."""

    def __getitem__(self, field: int) -> int:
        """A field by its number."""
        return self.numbers[field - FIRST_NUMBER]

    @property
    def is_kernel(self) -> bool:
        """A thread of the kernel. Its parent does not tell: in a container 2 may be anybody."""
        return bool(self[FLAGS] & KERNEL_THREAD)


def parse_stat(data: bytes) -> Stat:
    """The name may hold anything, a `)` too. ValueError if that is no such line."""
    before, bracket, after = data.rpartition(b")")
    state, *numbers = after.split() or [b""]
    if not bracket or len(numbers) <= BEGAN - FIRST_NUMBER:
        raise ValueError("not a line of /proc/PID/stat")
    name = before.partition(b"(")[2].decode(errors="replace")
    printable = "".join(letter if letter.isprintable() else "?" for letter in name)
    return Stat(printable or "?", state.decode(), tuple(int(number) for number in numbers))


def read_text(path: Path | str) -> str | None:
    """Without the line's end; None where it may not be read, or does not exist."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None


def read_stat(pid: int, tid: int | None = None) -> Stat:
    """Of a process, or of one thread. OSError if it has ended."""
    folder = PROC / str(pid)
    if tid is not None:
        folder = folder / "task" / str(tid)
    return parse_stat((folder / "stat").read_bytes())


def parse_cpus(text: str) -> dict[int, tuple[int, ...]]:
    """The columns up to STEAL of every CPU in /proc/stat, in ticks; 0 where a kernel has none."""
    cpus: dict[int, tuple[int, ...]] = {}
    for line in text.splitlines():
        name, *values = line.split() or [""]
        if name.startswith("cpu") and name[3:].isdigit():
            numbers = [int(value) for value in values[: STEAL + 1]]
            cpus[int(name[3:])] = (*numbers, *[0] * (STEAL + 1 - len(numbers)))
    return cpus
