"""CPUs: are there enough, and are they all alike?"""

from __future__ import annotations

from regatta.doctor.activity import Activity
from regatta.doctor.finding import FINE, MINOR, SERIOUS, Finding, Situation
from regatta.doctor.machine import Machine
from regatta.study.cpus import cpu_list, cpus_text

ENOUGH = "cpus"
KINDS = "cpu-kinds"
COMFORTABLE = 4
OF_ENOUGH = (
    "Server and client need CPUs of their own, or each is measured with the other's turns in it. "
    "perf, the lab and the kernel need some time too: with two CPUs they take the client's."
)
OF_KINDS = (
    "A small core takes about twice as long for the same request. Server and client pinned to "
    "different kinds are fine; a race now on one kind and now on the other is two races."
)


def look_at_number(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    allowed = machine.allowed_cpus()
    told = f"{len(allowed)} that may be used ({cpus_text(allowed)})"
    both = set(situation.server_cpus) & set(situation.client_cpus)
    if both:
        return Finding(
            ENOUGH,
            SERIOUS,
            f"server and client share {cpus_text(both)}; {told}",
            OF_ENOUGH,
            advice="Race on a machine with two CPUs or more, or give this one more.",
        )
    if len(allowed) < COMFORTABLE:
        return Finding(
            ENOUGH,
            MINOR,
            f"{told}: the lab, perf and interrupts run beside the server or the client",
            OF_ENOUGH,
            advice="Four or more are comfortable; with two take more blocks.",
        )
    return Finding(ENOUGH, FINE, told, OF_ENOUGH)


def look_at_kinds(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    kinds = cpu_kinds(machine)
    if len(kinds) < 2:
        return Finding(
            KINDS, FINE, "all CPUs are of one kind, as far as the kernel tells", OF_KINDS
        )
    names = list(kinds)
    used = [name for name in names if set(kinds[name]) & set(situation.pinned)]
    told = "; ".join(f"{name}: {cpus_text(kinds[name])}" for name in names)
    if len(used) < 2:
        return Finding(
            KINDS, FINE, f"all pinned CPUs are {used[0] if used else ''} ({told})", OF_KINDS
        )
    fast = [cpu for cpu in kinds[names[0]] if cpu in machine.allowed_cpus()]
    fix: tuple[str, ...] = ()
    if len(fast) >= 2:
        fix = (f"regatta race --server-cpus {fast[0]} --client-cpus {cpu_list(fast[1:])}",)
    mixed = any(
        len([name for name in names if set(kinds[name]) & set(side)]) > 1
        for side in (situation.server_cpus, situation.client_cpus)
    )
    return Finding(
        KINDS,
        SERIOUS if mixed else MINOR,
        f"the pinned CPUs are of different kinds ({told})",
        OF_KINDS,
        fix=fix,
        advice="" if fix else "Pin each side to CPUs of one kind.",
    )


def cpu_kinds(machine: Machine) -> dict[str, tuple[int, ...]]:
    """The CPUs of each kind, the fastest kind first; one kind or none where all are alike."""
    found: dict[str, tuple[int, ...]] = {}
    for kind, device in (("large", "cpu_core"), ("small", "cpu_atom")):
        cpus = machine.cpu_set(f"/sys/devices/{device}/cpus")
        if cpus:
            found[kind] = cpus
    if found:
        return found
    by_capacity: dict[int, list[int]] = {}
    for cpu in machine.allowed_cpus():
        capacity = machine.number(f"/sys/devices/system/cpu/cpu{cpu}/cpu_capacity")
        if capacity is not None:
            by_capacity.setdefault(capacity, []).append(cpu)
    return {
        f"capacity {capacity}": tuple(by_capacity[capacity])
        for capacity in sorted(by_capacity, reverse=True)
    }
