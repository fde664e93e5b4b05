"""A machine as its kernel's files show it, below a root folder: `/`, or a made-up machine's."""

import os
from pathlib import Path

from regatta.study.cpus import cpus_of

CAP_SYS_ADMIN = 21
CAP_SYS_RESOURCE = 24
CAP_PERFMON = 38
TOOL_FOLDERS = ("/usr/sbin", "/sbin", "/usr/local/sbin")


class Machine:
    """Reads files by the path that they have on a real machine; what is absent is None."""

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
        """True if it is there and this user may know it."""
        try:
            return self.path(name).exists()
        except OSError:
            return False

    def names(self, folder: str) -> list[str]:
        """The names in a folder, in order; none where it cannot be read."""
        try:
            return sorted(entry.name for entry in self.path(folder).iterdir())
        except OSError:
            return []

    def cpu_set(self, name: str) -> tuple[int, ...]:
        """CPUs of a file that lists them as the kernel does: `0-3,8`."""
        return cpu_set(self.text(name))

    def status(self, field: str) -> str | None:
        """A field of /proc/self/status: of the lab itself, and so of all that it starts."""
        return field_of(self.text("/proc/self/status") or "", field)

    def cpu_info(self, field: str) -> str | None:
        """The first CPU's value of a field of /proc/cpuinfo."""
        return field_of(self.text("/proc/cpuinfo") or "", field)

    def allowed_cpus(self) -> tuple[int, ...]:
        return cpu_set(self.status("Cpus_allowed_list"))

    def may(self, capability: int) -> bool:
        """Whether the lab has this right of root's (capabilities(7))."""
        try:
            return bool(int(self.status("CapEff") or "", 16) >> capability & 1)
        except ValueError:
            return False

    def is_root(self) -> bool:
        return (self.status("Uid") or "").split()[:1] == ["0"]

    def hard_limit(self, name: str) -> int | None:
        """A hard limit of /proc/self/limits; None if there is none."""
        for line in (self.text("/proc/self/limits") or "").splitlines():
            if line.startswith(name):
                fields = line[len(name) :].split()
                return int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else None
        return None

    def hypervisor(self) -> str | None:
        """Who runs this virtual machine, as far as it shows; None on a machine of its own."""
        if "hypervisor" in (self.cpu_info("flags") or "").split():
            return self.text("/sys/class/dmi/id/sys_vendor") or "a hypervisor"
        return self.text("/sys/hypervisor/type")

    def kernel(self) -> tuple[int, int]:
        """The first two numbers of the kernel's version; (0, 0) where it does not tell."""
        parts = (self.text("/proc/sys/kernel/osrelease") or "").split(".")
        try:
            return int(parts[0]), int(parts[1])
        except (ValueError, IndexError):
            return 0, 0

    def siblings(self, cpu: int) -> set[int]:
        """The CPUs that share a core with this one, itself included."""
        folder = f"/sys/devices/system/cpu/cpu{cpu}/topology"
        return {cpu, *self.cpu_set(f"{folder}/thread_siblings_list")}

    def has_program(self, name: str) -> bool:
        folders = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *TOOL_FOLDERS]
        return any(self.exists(f"{folder}/{name}") for folder in folders if folder)


def field_of(text: str, field: str) -> str | None:
    """The value of the first line `FIELD : VALUE`."""
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() == field:
            return value.strip()
    return None


def cpu_set(text: str | None) -> tuple[int, ...]:
    """A list of CPUs; what is none has no CPUs."""
    try:
        return cpus_of(text or "")
    except ValueError:
        return ()
