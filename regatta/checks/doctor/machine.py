"""A machine as the files of its kernel show it, below `/` or the root of a simulated machine."""

import os
from pathlib import Path

from regatta.record.study.cpus import cpus_of

CAP_SYS_ADMIN = 21
CAP_SYS_RESOURCE = 24
CAP_PERFMON = 38
TOOL_FOLDERS = ("/usr/sbin", "/sbin", "/usr/local/sbin")


class Machine:
    """Reads files by their path on a real machine; None if a file is missing or unreadable."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str | None:
        try:
            return self.path(name).read_text(errors="replace").strip()
        except OSError:
            return None

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

    def cpu_set(self, name: str) -> tuple[int, ...]:
        """The CPUs in a file in the kernel's list format: `0-3,8`."""
        return cpu_set(self.text(name))

    def status(self, field: str) -> str | None:
        """A field of /proc/self/status; programs that the lab starts inherit its value."""
        return field_of(self.text("/proc/self/status") or "", field)

    def cpu_info(self, field: str) -> str | None:
        """The first CPU's value of a field of /proc/cpuinfo."""
        return field_of(self.text("/proc/cpuinfo") or "", field)

    def allowed_cpus(self) -> tuple[int, ...]:
        return cpu_set(self.status("Cpus_allowed_list"))

    def may(self, capability: int) -> bool:
        """Whether the lab has this capability (capabilities(7))."""
        try:
            return bool(int(self.status("CapEff") or "", 16) >> capability & 1)
        except ValueError:
            return False

    def is_root(self) -> bool:
        return (self.status("Uid") or "").split()[:1] == ["0"]

    def hard_limit(self, name: str) -> int | None:
        """A hard limit in /proc/self/limits; None if unlimited."""
        for line in (self.text("/proc/self/limits") or "").splitlines():
            if line.startswith(name):
                fields = line[len(name) :].split()
                return int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else None
        return None

    def hypervisor(self) -> str | None:
        """The vendor of this virtual machine; None on bare metal."""
        if "hypervisor" in (self.cpu_info("flags") or "").split():
            return self.text("/sys/class/dmi/id/sys_vendor") or "a hypervisor"
        return self.text("/sys/hypervisor/type")

    def kernel(self) -> tuple[int, int]:
        """Major and minor version of the kernel; (0, 0) if unknown."""
        parts = (self.text("/proc/sys/kernel/osrelease") or "").split(".")
        try:
            return int(parts[0]), int(parts[1])
        except (ValueError, IndexError):
            return 0, 0

    def siblings(self, cpu: int) -> set[int]:
        """The CPUs that share a core with this one, including itself."""
        folder = f"/sys/devices/system/cpu/cpu{cpu}/topology"
        return {cpu, *self.cpu_set(f"{folder}/thread_siblings_list")}

    def has_program(self, name: str) -> bool:
        folders = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *TOOL_FOLDERS]
        return any(self.exists(f"{folder}/{name}") for folder in folders if folder)


def field_of(text: str, field: str) -> str | None:
    """The value in the first line `FIELD : VALUE`."""
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() == field:
            return value.strip()
    return None


def cpu_set(text: str | None) -> tuple[int, ...]:
    """The CPUs in a list; none if it is missing or malformed."""
    try:
        return cpus_of(text or "")
    except ValueError:
        return ()
