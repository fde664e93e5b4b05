"""A machine as the files of its kernel show it, below `/` or the root of a simulated machine, and
what limits the lab's control group there."""

import os
from dataclasses import dataclass
from pathlib import Path

from regatta.measure.processes import read_text
from regatta.record.study.cpus import cpus_of

CAP_SYS_ADMIN = 21
CAP_SYS_RESOURCE = 24
CAP_PERFMON = 38
TOOL_FOLDERS = ("/usr/sbin", "/sbin", "/usr/local/sbin")
GROUPS = "/sys/fs/cgroup"


class Machine:
    """Reads files by their path on a real machine; None if a file is missing or unreadable."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str | None:
        return read_text(self.path(name))

    def lines(self, name: str) -> list[str]:
        return (self.text(name) or "").splitlines()

    def number(self, name: str) -> int | None:
        try:
            return int(self.text(name) or "")
        except ValueError:
            return None

    def exists(self, name: str) -> bool:
        """Whether the file exists and this user may see it."""
        try:
            return self.path(name).exists()
        except OSError:
            return False

    def names(self, folder: str) -> list[str]:
        """The sorted names in a folder; none if it cannot be read."""
        try:
            return sorted(entry.name for entry in self.path(folder).iterdir())
        except OSError:
            return []

    def field(self, file: str, name: str) -> str:
        """The value in the file's first line `NAME : VALUE`; empty if there is none."""
        pairs = (line.partition(":") for line in self.lines(file))
        return next((value.strip() for key, _, value in pairs if key.strip() == name), "")

    def status(self, name: str) -> str:
        """A field of /proc/self/status; programs that the lab starts inherit its value."""
        return self.field("/proc/self/status", name)

    def allowed_cpus(self) -> tuple[int, ...]:
        return cpu_set(self.status("Cpus_allowed_list"))

    def cpu_set(self, name: str) -> tuple[int, ...]:
        """The CPUs in a file in the kernel's list format: `0-3,8`."""
        return cpu_set(self.text(name) or "")

    def siblings(self, cpu: int) -> set[int]:
        """The CPUs that share a core with this one, including itself."""
        folder = f"/sys/devices/system/cpu/cpu{cpu}/topology"
        return {cpu, *self.cpu_set(f"{folder}/thread_siblings_list")}

    def may(self, capability: int) -> bool:
        """Whether the lab has this capability (capabilities(7))."""
        return bool(int(self.status("CapEff") or "0", 16) >> capability & 1)

    def is_root(self) -> bool:
        return self.status("Uid").split()[:1] == ["0"]

    def hard_limit(self, name: str) -> int | None:
        """A hard limit in /proc/self/limits; None if unlimited."""
        for line in self.lines("/proc/self/limits"):
            if line.startswith(name):
                hard = line.removeprefix(name).split()[1]
                return int(hard) if hard.isdigit() else None
        return None

    def hypervisor(self) -> str | None:
        """The vendor of this virtual machine; None on bare metal."""
        if "hypervisor" in self.field("/proc/cpuinfo", "flags").split():
            return self.text("/sys/class/dmi/id/sys_vendor") or "a hypervisor"
        return self.text("/sys/hypervisor/type")

    def kernel(self) -> tuple[int, int]:
        """Major and minor version of the kernel; (0, 0) if unknown."""
        major, minor, *_ = [*(self.text("/proc/sys/kernel/osrelease") or "").split("."), "", ""]
        return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)

    def has_program(self, name: str) -> bool:
        folders = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *TOOL_FOLDERS]
        return any(self.exists(f"{folder}/{name}") for folder in folders if folder)


def cpu_set(text: str) -> tuple[int, ...]:
    """The CPUs in a list; none if it is missing or malformed."""
    try:
        return cpus_of(text)
    except ValueError:
        return ()


@dataclass(frozen=True)
class GroupLimit:
    value: float
    path: str
    """The file that sets it."""
    text: str
    """The content of that file."""


def group_folders(machine: Machine) -> list[str]:
    """The folders of the lab's control group (v2) and its ancestors.

    In a container /proc/self/cgroup may show the path on the host, where no folder exists; the root
    is then the container's own group.
    """
    mount = f"{GROUPS}/unified" if machine.exists(f"{GROUPS}/unified") else GROUPS
    for line in machine.lines("/proc/self/cgroup"):
        if line.startswith("0::"):
            parts = [part for part in line[3:].split("/") if part not in ("", "..")]
            folders = ("/".join((mount, *parts[:at])) for at in range(len(parts), -1, -1))
            return list(filter(machine.exists, folders))
    return []


def most_tasks(machine: Machine) -> GroupLimit | None:
    """The smallest limit of tasks; `max` and a missing file are none."""
    paths = [f"{folder}/pids.max" for folder in group_folders(machine)]
    found = [(value, path) for path in paths if (value := machine.number(path)) is not None]
    return GroupLimit(*min(found), str(min(found)[0])) if found else None


def cpu_quota(machine: Machine) -> GroupLimit | None:
    """The smallest CPU quota of the groups, in CPUs."""
    found: list[GroupLimit] = []
    for path in (f"{folder}/cpu.max" for folder in group_folders(machine)):
        text = machine.text(path) or ""
        quota, _, period = text.partition(" ")
        if quota.isdigit() and period.isdigit() and int(period):
            found.append(GroupLimit(int(quota) / int(period), path, text))
    return min(found, key=lambda limit: limit.value, default=None)


def throttled(machine: Machine) -> int:
    """How often a group was throttled because its quota was used up."""
    times = [
        int(value)
        for folder in group_folders(machine)
        for name, _, value in (line.partition(" ") for line in machine.lines(f"{folder}/cpu.stat"))
        if name == "nr_throttled" and value.isdigit()
    ]
    return max(times, default=0)
