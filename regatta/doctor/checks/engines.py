"""Container engines: whether a race can run in containers here."""

from regatta.doctor.activity import Activity
from regatta.doctor.finding import FINE, MINOR, Finding, RaceSetup, Subject
from regatta.doctor.machine import Machine
from regatta.machine.containers.engine import INSTALL

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
