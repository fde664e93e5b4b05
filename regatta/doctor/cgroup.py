"""Limits of the lab's control group and its ancestors, in cgroup v1 and v2."""

from dataclasses import dataclass

from regatta.doctor.machine import Machine

ROOT = "/sys/fs/cgroup"


@dataclass(frozen=True)
class GroupLimit:
    value: float
    path: str
    """The file that sets it."""
    text: str
    """The content of that file."""


def folders(machine: Machine, controller: str) -> list[str]:
    """The folders of the lab's group and its ancestors, for one controller.

    In a container /proc/self/cgroup may show the path on the host, where no folder exists; the root
    is then the container's own group.
    """
    found: list[str] = []
    for line in (machine.text("/proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if names and controller not in names.split(","):
            continue
        for mount in mounts(names, controller):
            if not machine.exists(mount):
                continue
            parts = [part for part in path.split("/") if part and part != ".."]
            for depth in range(len(parts), -1, -1):
                folder = "/".join([mount, *parts[:depth]])
                if machine.exists(folder):
                    found.append(folder)
            break
    return found


def mounts(names: str, controller: str) -> list[str]:
    """Where a hierarchy may be mounted. In v2 `names` is empty."""
    if names:
        return [f"{ROOT}/{names}", f"{ROOT}/{controller}"]
    return [f"{ROOT}/unified", ROOT]


def smallest(machine: Machine, controller: str, file: str) -> GroupLimit | None:
    """The smallest number in files of this name; `max` and a missing file are no limit."""
    found: list[GroupLimit] = []
    for folder in folders(machine, controller):
        path = f"{folder}/{file}"
        value = machine.number(path)
        if value is not None:
            found.append(GroupLimit(float(value), path, str(value)))
    return min(found, key=lambda limit: limit.value, default=None)


def cpu_quota(machine: Machine) -> GroupLimit | None:
    """The smallest CPU quota of the groups, in CPUs."""
    found: list[GroupLimit] = []
    for folder in folders(machine, "cpu"):
        new, old = f"{folder}/cpu.max", f"{folder}/cpu.cfs_quota_us"
        text = machine.text(new)
        if text is not None:
            quota, _, period = text.partition(" ")
            if quota.isdigit() and period.isdigit() and int(period):
                found.append(GroupLimit(int(quota) / int(period), new, text))
        quota_us = machine.number(old)
        period_us = machine.number(f"{folder}/cpu.cfs_period_us")
        if quota_us is not None and quota_us > 0 and period_us:
            found.append(GroupLimit(quota_us / period_us, old, str(quota_us)))
    return min(found, key=lambda limit: limit.value, default=None)


def throttled(machine: Machine) -> int:
    """How often a group was throttled because its quota was used up."""
    times = 0
    for folder in folders(machine, "cpu"):
        for line in (machine.text(f"{folder}/cpu.stat") or "").splitlines():
            name, _, value = line.partition(" ")
            if name == "nr_throttled" and value.isdigit():
                times = max(times, int(value))
    return times
