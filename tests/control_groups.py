"""Control groups of labs that have ended."""

from contextlib import suppress
from pathlib import Path

from regatta.machine.accounts import kernel_memory
from regatta.machine.accounts.cgroup import PREFIX, find_mount, lock_group


def abandoned_groups() -> list[Path]:
    """Control groups of labs that are no longer running."""
    found = []
    for controller in ("", kernel_memory.VERSION_1):
        with suppress(LookupError, OSError):
            for path in find_mount(controller).glob(f"**/{PREFIX}*"):
                if (lock := lock_group(path)) is not None:
                    lock.close()
                    found.append(path)
    return found
