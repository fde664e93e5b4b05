"""Descriptors and tasks: each connection takes one descriptor, with some designs a thread too."""

from __future__ import annotations

from regatta.doctor.activity import Activity
from regatta.doctor.cgroup import smallest
from regatta.doctor.finding import FINE, MINOR, SERIOUS, Finding, Situation
from regatta.doctor.machine import CAP_SYS_RESOURCE, Machine

DESCRIPTORS = "descriptors"
TASKS = "tasks"
# The largest study that ships, c10k: 10,000 silent connections beside 100 busy ones.
SHIPPED_CONNECTIONS = 10_100
SPARE = 64
FEWEST = 256
"""With fewer connections than this not even the quick race fits well."""
OF_DESCRIPTORS = (
    "Each connection takes one descriptor of each side. Beyond the limit connections are refused, "
    "and the trial fails."
)
OF_TASKS = (
    "Designs with a thread or process for each connection, and the client's thread engine, make "
    "as many tasks as there are connections. Beyond the limit the trial fails."
)


def look_at_descriptors(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    hard = machine.hard_limit("Max open files")
    if hard is None:
        return Finding(DESCRIPTORS, FINE, "there is no limit of open files", OF_DESCRIPTORS)
    told = f"{hard:,} open files a process (hard limit)"
    needed = (situation.connections or SHIPPED_CONNECTIONS) + SPARE
    if hard >= needed:
        return Finding(DESCRIPTORS, FINE, told, OF_DESCRIPTORS)
    return Finding(
        DESCRIPTORS,
        too_few(situation, hard),
        f"{told}, {needed:,} are needed for {needed - SPARE:,} connections",
        OF_DESCRIPTORS,
        fix=(f"sudo prlimit --pid $$ --nofile={needed}:{needed}",),
        undo=(f"sudo prlimit --pid $$ --nofile={hard}:{hard}",),
        advice="For this shell and what it starts; for good in /etc/security/limits.conf.",
    )


def look_at_tasks(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    found: dict[str, int] = {}
    user = machine.hard_limit("Max processes")
    if user is not None and not machine.may(CAP_SYS_RESOURCE):
        found["this user"] = user
    threads = machine.number("/proc/sys/kernel/threads-max")
    if threads is not None:
        found["the machine"] = threads
    group = smallest(machine, "pids", "pids.max")
    if group is not None:
        found["the control group"] = int(group.value)
    if not found:
        return Finding(TASKS, FINE, "there is no limit of processes and threads", OF_TASKS)
    who = min(found, key=found.__getitem__)
    told = f"{found[who]:,} processes and threads for {who}"
    needed = (situation.connections or SHIPPED_CONNECTIONS) + SPARE
    if found[who] >= needed:
        return Finding(TASKS, FINE, told, OF_TASKS)
    fix, undo = {
        "this user": (
            f"sudo prlimit --pid $$ --nproc={needed}:{needed}",
            f"sudo prlimit --pid $$ --nproc={found[who]}:{found[who]}",
        ),
        "the machine": (
            f"sudo sysctl kernel.threads-max={needed * 2}",
            f"sudo sysctl kernel.threads-max={found[who]}",
        ),
        "the control group": (
            f"echo max | sudo tee {group.path if group else ''}",
            f"echo {found[who]} | sudo tee {group.path if group else ''}",
        ),
    }[who]
    return Finding(
        TASKS,
        too_few(situation, found[who]),
        f"{told}, {needed:,} are needed for {needed - SPARE:,} connections",
        OF_TASKS,
        fix=(fix,),
        undo=(undo,),
        advice="A container's limit is its engine's: docker run --pids-limit."
        if who == "the control group"
        else "",
    )


def too_few(situation: Situation, limit: int) -> str:
    """Serious where the study at hand does not fit; otherwise only the largest ones do not."""
    return SERIOUS if situation.connections is not None or limit < FEWEST else MINOR
