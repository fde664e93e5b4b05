"""Idle states: a CPU that sleeps deeply takes its time to wake up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regatta.doctor.activity import Activity
from regatta.doctor.finding import (
    FINE,
    MEASURE_IT,
    MINOR,
    UNKNOWN,
    Finding,
    Situation,
)
from regatta.doctor.machine import Machine

if TYPE_CHECKING:
    from regatta.doctor.probes.bench import Bench

NAME = "idle"
CPU = "/sys/devices/system/cpu"
DEEP_US = 50
SLOW_US = 100
"""To be late by: less than this is what a switch to another thread and back costs, too."""
DEEP = (
    "Keep the CPUs awake: boot with processor.max_cstate=1 (Intel: intel_idle.max_cstate=1 too), "
    "or on a virtual machine with cpuidle_haltpoll.force=1."
)
MATTERS = (
    "A server that waits for its next request sleeps, and the time to wake its CPU is in the "
    "latency: at low rates it is most of it. Designs that sleep more often pay it more often."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    states = idle_states(machine, situation.server_cpus[0])
    if not states:
        return Finding(
            NAME,
            UNKNOWN,
            "the kernel does not choose how deeply CPUs sleep",
            MATTERS,
            advice=MEASURE_IT,
        )
    told = ", ".join(f"{name} {latency_us} µs" for _, name, latency_us in states)
    deep = [state for state in states if state[2] > DEEP_US]
    if not deep:
        return Finding(NAME, FINE, f"all states wake up fast ({told})", MATTERS)
    return Finding(
        NAME,
        MINOR,
        f"the deepest sleep takes {max(latency for _, _, latency in deep)} µs to end ({told})",
        MATTERS,
        fix=tuple(f"echo 1 | sudo tee {CPU}/cpu*/cpuidle/{state}/disable" for state, _, _ in deep),
        undo=tuple(f"echo 0 | sudo tee {CPU}/cpu*/cpuidle/{state}/disable" for state, _, _ in deep),
        advice="Without deep sleep the machine draws more power, and may reach less turbo.",
    )


def idle_states(machine: Machine, cpu: int) -> list[tuple[str, str, int]]:
    """File, name and time to wake up (µs) of each state that is in use."""
    found: list[tuple[str, str, int]] = []
    for state in machine.names(f"{CPU}/cpu{cpu}/cpuidle"):
        folder = f"{CPU}/cpu{cpu}/cpuidle/{state}"
        latency = machine.number(f"{folder}/latency")
        if latency is not None and machine.text(f"{folder}/disable") != "1":
            found.append((state, machine.text(f"{folder}/name") or state, latency))
    return found


def measure(finding: Finding, bench: Bench) -> Finding:
    effect = bench.wake
    return finding.measured([effect], FINE if effect.high < SLOW_US else MINOR, advice=DEEP)
