"""Limits of control groups: of the lab's group and all above it, in cgroup v1 and v2."""

from dataclasses import dataclass

from regatta.doctor.machine import Machine

ROOT = "/sys/fs/cgroup"


@dataclass(frozen=True)
class GroupLimit:
    value: float
    path: str
    """Of the file that sets it."""
    text: str
    """What it holds now."""


def folders(machine: Machine, controller: str) -> list[str]:
    """The folders of the lab's group and of those above it, for one controller.

    In a container the path may be that of the host, and the folder is not there: then the
    container's own group is the root.
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
    """Where a hierarchy is mounted: the new kind has no names."""
    if names:
        return [f"{ROOT}/{names}", f"{ROOT}/{controller}"]
    return [f"{ROOT}/unified", ROOT]


def smallest(machine: Machine, controller: str, file: str) -> GroupLimit | None:
    """The smallest number in a file of this name; `max` and what is absent limit nothing."""
    found: list[GroupLimit] = []
    for folder in folders(machine, controller):
        path = f"{folder}/{file}"
        value = machine.number(path)
        if value is not None:
            found.append(GroupLimit(float(value), path, str(value)))
    return min(found, key=lambda limit: limit.value, default=None)


def cpu_quota(machine: Machine) -> GroupLimit | None:
    """The smallest share of CPU time that a group may use, in CPUs."""
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
    """How often groups above the lab were stopped for having used their share."""
    times = 0
    for folder in folders(machine, "cpu"):
        for line in (machine.text(f"{folder}/cpu.stat") or "").splitlines():
            name, _, value = line.partition(" ")
            if name == "nr_throttled" and value.isdigit():
                times = max(times, int(value))
    return times
