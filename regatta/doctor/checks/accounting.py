"""Control groups: is a server charged for all that its threads run, to their very last?"""

from __future__ import annotations

from regatta.doctor.activity import Activity
from regatta.doctor.finding import FINE, MINOR, Finding, Situation
from regatta.doctor.machine import Machine

NAME = "accounting"
MOUNT = "/sys/fs/cgroup/unified"
MATTERS = (
    "Without a control group of its own a server's CPU time is that of its process, which lacks "
    "what every thread runs while it ends: 1.7 % of a thread for each client where each request "
    "scans /proc, 7 % where it does not. Designs that make no threads lose nothing."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    if situation.control_groups:
        return Finding(NAME, FINE, "CPU time is charged to a control group of each side", MATTERS)
    if (machine.status("Uid") or "").split()[:1] != ["0"]:
        return Finding(
            NAME,
            MINOR,
            "only root may make control groups: CPU time is that of the server's process",
            MATTERS,
            fix=("sudo regatta race",),
        )
    mounted = any(
        line.split()[2:3] == ["cgroup2"]
        for line in (machine.text("/proc/self/mounts") or "").splitlines()
    )
    if mounted:
        return Finding(
            NAME,
            MINOR,
            "control groups may not be made here: CPU time is that of the server's process",
            MATTERS,
            advice="In a container they are read-only unless it is privileged: docker run "
            "--privileged, or race on the host.",
        )
    return Finding(
        NAME,
        MINOR,
        "control groups of version 2 are not mounted: CPU time is that of the server's process",
        MATTERS,
        fix=(f"sudo mkdir -p {MOUNT} && sudo mount -t cgroup2 none {MOUNT}",),
        undo=(f"sudo umount {MOUNT}",),
    )
