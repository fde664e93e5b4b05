"""Limits of descriptors and tasks, and whether a race can run in containers here."""

from regatta.checks.doctor.activity import Activity, smallest
from regatta.checks.doctor.finding import FINE, MINOR, SERIOUS, Finding, RaceSetup, Subject
from regatta.checks.doctor.machine import CAP_SYS_RESOURCE, Machine
from regatta.measure.places.containers.engine import INSTALL

DESCRIPTORS = Subject(
    "descriptors",
    "Each connection needs a descriptor on each side. Beyond the limit, connections are refused "
    "and the trial fails.",
)
TASKS = Subject(
    "tasks",
    "Designs with a thread or process per connection, and the client's thread engine, create one "
    "task per connection. Beyond the limit the trial fails.",
)
# The largest study that ships, c10k: 10,000 silent connections beside 100 busy ones.
SHIPPED_CONNECTIONS = 10_100
SPARE = 64
FEWEST = 256
"""The study quick needs about this many."""


def inspect_descriptors(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    hard = machine.hard_limit("Max open files")
    if hard is None:
        return DESCRIPTORS.found(FINE, "no limit of open files")
    words = f"{hard:,} open files per process (hard limit)"
    needed = (setup.connections or SHIPPED_CONNECTIONS) + SPARE
    if hard >= needed:
        return DESCRIPTORS.found(FINE, words)
    return DESCRIPTORS.found(
        too_few(setup, hard),
        f"{words}; {needed - SPARE:,} connections need {needed:,}",
        fix=(f"sudo prlimit --pid $$ --nofile={needed}:{needed}",),
        undo=(f"sudo prlimit --pid $$ --nofile={hard}:{hard}",),
        advice="This lasts for this shell; /etc/security/limits.conf is permanent.",
    )


def inspect_tasks(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
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
        return TASKS.found(FINE, "no limit of processes and threads")
    owner = min(found, key=found.__getitem__)
    words = f"{found[owner]:,} processes and threads for {owner}"
    needed = (setup.connections or SHIPPED_CONNECTIONS) + SPARE
    if found[owner] >= needed:
        return TASKS.found(FINE, words)
    path = group.path if group else ""
    fix, undo = {
        "this user": (
            f"sudo prlimit --pid $$ --nproc={needed}:{needed}",
            f"sudo prlimit --pid $$ --nproc={found[owner]}:{found[owner]}",
        ),
        "the machine": (
            f"sudo sysctl kernel.threads-max={needed * 2}",
            f"sudo sysctl kernel.threads-max={found[owner]}",
        ),
        "the control group": (
            f"echo max | sudo tee {path}",
            f"echo {found[owner]} | sudo tee {path}",
        ),
    }[owner]
    in_group = owner == "the control group"
    return TASKS.found(
        too_few(setup, found[owner]),
        f"{words}; {needed - SPARE:,} connections need {needed:,}",
        fix=(fix,),
        undo=(undo,),
        advice="For a container use docker run --pids-limit." if in_group else "",
    )


def too_few(setup: RaceSetup, limit: int) -> str:
    """Serious if the given study, or any study, does not fit; else only large studies do not."""
    return SERIOUS if setup.connections is not None or limit < FEWEST else MINOR


CONTAINERS = Subject(
    "containers",
    "Only races with --placement containers need a working container engine, and root.",
)
INSTALLED = ("podman", "docker")


def inspect_containers(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    if setup.engine is not None:
        as_root = "" if machine.is_root() else "; races in containers also need root"
        return CONTAINERS.found(FINE, f"{setup.engine} works{as_root}")
    if setup.engine_refused is None or not any(map(machine.has_program, INSTALLED)):
        return CONTAINERS.found(
            FINE, f"no engine, so no races in containers; to install one: {INSTALL}"
        )
    return CONTAINERS.found(MINOR, setup.engine_refused, fix=(INSTALL,))
