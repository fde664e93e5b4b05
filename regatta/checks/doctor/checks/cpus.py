"""CPUs: enough of them, all of one kind, and no core shared between the sides."""

from regatta.checks.doctor.activity import Activity
from regatta.checks.doctor.finding import (
    FINE,
    MINOR,
    SERIOUS,
    Finding,
    RaceSetup,
    Subject,
    level_of,
)
from regatta.checks.doctor.machine import Machine
from regatta.checks.doctor.probes.bench import Bench
from regatta.errors import CpuError
from regatta.measure.places.placement import choose_cpus
from regatta.record.study.cpus import cpu_list, cpus_text

COMFORTABLE = 4
ENOUGH = Subject(
    "cpus",
    "Server and client need separate CPUs, or each slows the other down. perf, the lab and the "
    "kernel need time too; with two CPUs they take it from the client.",
)
KINDS = Subject(
    "cpu-kinds",
    "A small core takes about twice as long for the same request. Server and client may be pinned "
    "to different kinds, but neither may move between kinds during a race.",
)
SMT = Subject(
    "smt",
    "Two CPUs of one core share its execution units: while one is busy, the other is a third to a "
    "half slower. If the client runs on the server's sibling, it slows the server down.",
)
AGAIN = "This measurement is inconclusive: repeat it when nothing else runs."
HIDDEN = (
    "The host presents one core as two CPUs, or runs other guests on it: rent whole cores (an "
    "instance type without SMT) or a dedicated machine."
)
CPU = "/sys/devices/system/cpu"
CONTROL = f"{CPU}/smt/control"


def inspect_number(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    allowed = machine.allowed_cpus()
    words = f"{len(allowed)} usable ({cpus_text(allowed)})"
    both = set(setup.server_cpus) & set(setup.client_cpus)
    if both:
        return ENOUGH.found(
            SERIOUS,
            f"server and client share {cpus_text(both)}; {words}",
            advice="Use a machine with two CPUs or more.",
        )
    if len(allowed) < COMFORTABLE:
        return ENOUGH.found(
            MINOR,
            f"{words}; the lab, perf and interrupts share CPUs with the server or the client",
            advice="Use four or more, or race more blocks.",
        )
    return ENOUGH.found(FINE, words)


def inspect_kinds(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    kinds = cpu_kinds(machine)
    if len(kinds) < 2:
        return KINDS.found(FINE, "all CPUs are of one kind, according to the kernel")
    names = list(kinds)
    used = [name for name in names if set(kinds[name]) & set(setup.pinned)]
    words = "; ".join(f"{name}: {cpus_text(kinds[name])}" for name in names)
    if len(used) < 2:
        return KINDS.found(FINE, f"all pinned CPUs are {used[0] if used else ''} ({words})")
    fast = [cpu for cpu in kinds[names[0]] if cpu in machine.allowed_cpus()]
    fix: tuple[str, ...] = ()
    if len(fast) >= 2:
        fix = (f"regatta race --server-cpus {fast[0]} --client-cpus {cpu_list(fast[1:])}",)
    mixed = any(
        len([name for name in names if set(kinds[name]) & set(side)]) > 1
        for side in (setup.server_cpus, setup.client_cpus)
    )
    return KINDS.found(
        SERIOUS if mixed else MINOR,
        f"the pinned CPUs are of different kinds ({words})",
        fix=fix,
        advice="" if fix else "Pin each side to CPUs of one kind.",
    )


def cpu_kinds(machine: Machine) -> dict[str, tuple[int, ...]]:
    """The CPUs of each kind, the fastest first; at most one kind if all are alike."""
    found: dict[str, tuple[int, ...]] = {}
    for kind, device in (("large", "cpu_core"), ("small", "cpu_atom")):
        cpus = machine.cpu_set(f"/sys/devices/{device}/cpus")
        if cpus:
            found[kind] = cpus
    if found:
        return found
    by_capacity: dict[int, list[int]] = {}
    for cpu in machine.allowed_cpus():
        capacity = machine.number(f"{CPU}/cpu{cpu}/cpu_capacity")
        if capacity is not None:
            by_capacity.setdefault(capacity, []).append(cpu)
    return {
        f"capacity {capacity}": tuple(by_capacity[capacity])
        for capacity in sorted(by_capacity, reverse=True)
    }


def inspect_smt(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    server = set(setup.server_cpus)
    words = cpus_text(server)
    siblings = set().union(*(machine.siblings(cpu) for cpu in server)) - server
    inside = {cpu for cpu in server if machine.siblings(cpu) & server - {cpu}}
    with_client = siblings & set(setup.client_cpus)
    if with_client:
        fix, undo = separate_cores(machine, setup)
        says = f"the client's {cpus_text(with_client)} and the server's {words} share a core"
        return SMT.found(SERIOUS, says, fix=fix, undo=undo)
    if siblings:
        online = [f"sudo tee {CPU}/cpu{cpu}/online" for cpu in sorted(siblings)]
        return SMT.found(
            MINOR,
            f"{cpus_text(siblings)} shares a core with the server's {words}; "
            "races leave it idle, but other programs may use it",
            fix=tuple(f"echo 0 | {switch}" for switch in online),
            undo=tuple(f"echo 1 | {switch}" for switch in online),
        )
    if inside:
        return SMT.found(
            MINOR,
            f"the server's {cpus_text(inside)} share a core, so its workers slow each other down",
            advice="Choose CPUs of different cores with --server-cpus (see lscpu -e).",
        )
    hidden = "; the host may hide it, so measure" if machine.hypervisor() else ""
    return SMT.found(FINE, f"no other CPU shares a core with the server's {words}{hidden}")


def separate_cores(machine: Machine, setup: RaceSetup) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Commands that give the two sides separate cores: other CPUs, or SMT off."""
    allowed = machine.allowed_cpus()
    try:
        server, client = choose_cpus(setup.server_cpus, None, allowed, machine.siblings)
    except CpuError:
        server, client = setup.server_cpus, ()
    cores = set().union(*(machine.siblings(cpu) for cpu in server))
    if client and not cores & set(client):
        options = f"--server-cpus {cpu_list(server)} --client-cpus {cpu_list(client)}"
        return (f"regatta race {options}",), ()
    return (f"echo off | sudo tee {CONTROL}",), (f"echo on | sudo tee {CONTROL}",)


def measure_smt(finding: Finding, bench: Bench) -> Finding:
    """The level follows from computing alone, which slows down only if the core is shared; system
    calls also suffer from shared caches and memory."""
    effects = bench.neighbour
    level = finding.level
    if level == FINE:
        level = level_of(effects[0])
    return finding.measured(effects, level, advice=HIDDEN if level == SERIOUS else AGAIN)
