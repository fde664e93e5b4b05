"""Hardware counters: cycles, instructions and cache misses, where a machine has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regatta.doctor.activity import Activity
from regatta.doctor.finding import (
    FINE,
    MINOR,
    Finding,
    Situation,
)
from regatta.doctor.machine import Machine

if TYPE_CHECKING:
    from regatta.doctor.probes.bench import Bench

NAME = "counters"
DEVICES = "/sys/bus/event_source/devices"
WATCHDOG = "/proc/sys/kernel/nmi_watchdog"
MATTERS = (
    "The counters say why a design wins: cycles, instructions, cache misses. Without them the "
    'standings are as good, but claims over them are "not measurable here".'
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del situation, activity
    if not machine.has_program("perf"):
        return Finding(
            NAME,
            MINOR,
            "perf is not installed: no counter but the kernel's own accounting",
            MATTERS,
            fix=("sudo apt-get install linux-perf",),
            undo=("sudo apt-get remove linux-perf",),
            advice="Ubuntu calls the package linux-tools-generic, Fedora perf.",
        )
    if not any(is_cpu(name) for name in machine.names(DEVICES)):
        virtual = machine.hypervisor()
        where = "the host does not pass them on" if virtual else "the kernel has no driver for them"
        return Finding(
            NAME,
            MINOR,
            f"there are no hardware counters: {where}; software events and tracepoints can count",
            MATTERS,
            advice="Only the host can change it: a virtual PMU (libvirt: <pmu state='on'/>; in a "
            "cloud a metal instance)."
            if virtual
            else "Race on another machine for claims over hardware counters.",
        )
    if machine.hypervisor():
        return Finding(
            NAME,
            MINOR,
            "the hardware counters are virtual: the host lends them, and may give fewer or none "
            "while it runs others",
            MATTERS,
            advice="Trust a counter only if it was counted all the time (running 100 % in the "
            "ledger); what was counted for less is scaled by perf.",
        )
    if machine.text(WATCHDOG) == "1":
        return Finding(
            NAME,
            MINOR,
            "the kernel's watchdog holds one hardware counter of each CPU: the others take turns",
            MATTERS,
            fix=("sudo sysctl kernel.nmi_watchdog=0",),
            undo=("sudo sysctl kernel.nmi_watchdog=1",),
        )
    return Finding(NAME, FINE, "the CPU's own counters are there", MATTERS)


def is_cpu(device: str) -> bool:
    """The names under which kernels offer a CPU's counters."""
    return device in ("cpu", "cpu_core", "cpu_atom") or device.startswith(("armv", "apple_"))


def measure(finding: Finding, bench: Bench) -> Finding:
    """It changes nothing: whatever counting costs is in no time, only in counted trials."""
    return finding.measured([bench.perf_cost], finding.level)
