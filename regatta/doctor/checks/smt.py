"""SMT: CPUs that share one core slow each other down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regatta.doctor.activity import Activity
from regatta.doctor.finding import (
    FINE,
    MINOR,
    SERIOUS,
    Finding,
    Situation,
    level_of,
)
from regatta.doctor.machine import Machine
from regatta.errors import CpuError
from regatta.machine.placement import choose_cpus
from regatta.study.cpus import cpu_list, cpus_text

if TYPE_CHECKING:
    from regatta.doctor.probes.bench import Bench

NAME = "smt"
AGAIN = "It cannot be told from this: measure again when nothing else runs."
HIDDEN = (
    "The host gives one core as two CPUs, or runs others beside you: ask for whole cores (a type "
    "of instance without SMT), or a machine of your own."
)
CONTROL = "/sys/devices/system/cpu/smt/control"
MATTERS = (
    "Two CPUs of one core share its units: while one is busy the other does a third to a half "
    "less in the same time. A server whose sibling runs the client is charged for the client."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    server = set(situation.server_cpus)
    shared = set().union(*(machine.siblings(cpu) for cpu in server)) - server
    inside = {cpu for cpu in server if machine.siblings(cpu) & server - {cpu}}
    with_client = shared & set(situation.client_cpus)
    if with_client:
        fix, undo = apart(machine, situation)
        return Finding(
            NAME,
            SERIOUS,
            f"the client's {cpus_text(with_client)} and the server's "
            f"{cpus_text(situation.server_cpus)} are of one core",
            MATTERS,
            fix=fix,
            undo=undo,
        )
    if shared:
        return Finding(
            NAME,
            MINOR,
            f"{cpus_text(shared)} is of one core with the server's "
            f"{cpus_text(situation.server_cpus)}; races leave it idle, others may not",
            MATTERS,
            fix=tuple(
                f"echo 0 | sudo tee /sys/devices/system/cpu/cpu{cpu}/online"
                for cpu in sorted(shared)
            ),
            undo=tuple(
                f"echo 1 | sudo tee /sys/devices/system/cpu/cpu{cpu}/online"
                for cpu in sorted(shared)
            ),
        )
    if inside:
        return Finding(
            NAME,
            MINOR,
            f"the server's {cpus_text(inside)} are of one core: its workers slow each other down",
            MATTERS,
            advice="Name CPUs of different cores: --server-cpus (lscpu -e shows the cores).",
        )
    hidden = "; a host may hide it: measure" if machine.hypervisor() else ""
    return Finding(
        NAME,
        FINE,
        f"no other CPU is of one core with the server's {cpus_text(situation.server_cpus)}{hidden}",
        MATTERS,
    )


def apart(machine: Machine, situation: Situation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How the two sides come to cores of their own: other CPUs, or no SMT."""
    allowed = machine.allowed_cpus()
    try:
        server, client = choose_cpus(situation.server_cpus, None, allowed, machine.siblings)
    except CpuError:
        server, client = situation.server_cpus, ()
    cores = set().union(*(machine.siblings(cpu) for cpu in server))
    if client and not cores & set(client):
        options = f"--server-cpus {cpu_list(server)} --client-cpus {cpu_list(client)}"
        return (f"regatta race {options}",), ()
    return (f"echo off | sudo tee {CONTROL}",), (f"echo on | sudo tee {CONTROL}",)


def measure(finding: Finding, bench: Bench) -> Finding:
    """Plain computing tells a shared core from caches and memory, which all CPUs share."""
    effects = bench.neighbour
    level = finding.level
    if level == FINE:
        level = level_of(effects[0])
    return finding.measured(effects, level, advice=HIDDEN if level == SERIOUS else AGAIN)
