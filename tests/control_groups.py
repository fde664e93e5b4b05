"""Control groups of labs that have ended."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from regatta.measure.accounts.cgroup import PREFIX, find_mount, lock_group
from regatta.measure.accounts.memory import VERSION_1
from tests.waiting import wait_until


def abandoned_groups() -> list[Path]:
    """Control groups that no lab holds: of labs that have ended, or made at this moment."""
    found = []
    for controller in ("", VERSION_1):
        with suppress(LookupError, OSError):
            found += filter(is_abandoned, find_mount(controller).glob(f"**/{PREFIX}*"))
    return found


def is_abandoned(group: Path) -> bool:
    lock = lock_group(group)
    if lock is not None:
        lock.close()
    return lock is not None


def no_group_is_left(before: Iterable[Path] = ()) -> None:
    """None but these. Labs run beside a test, and hold a group only a moment after it is made."""
    for group in set(abandoned_groups()) - set(before):
        wait_until(lambda group=group: not is_abandoned(group), f"left: {group}")
