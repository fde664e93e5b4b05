"""The clock source: is the time read in some ten nanoseconds, or asked from a slow device?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from regatta.doctor.activity import Activity
from regatta.doctor.finding import (
    FINE,
    MEASURE_IT,
    MINOR,
    SERIOUS,
    UNKNOWN,
    Finding,
    Situation,
)
from regatta.doctor.machine import Machine

if TYPE_CHECKING:
    from regatta.doctor.probes.bench import Bench

NAME = "clock"
FOLDER = "/sys/devices/system/clocksource/clocksource0"
GIVEN_UP = "The kernel may have given a faster one up: dmesg | grep -i clocksource tells why."
CHEAP_NS, DEAR_NS = 150.0, 500.0
FAST = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod")
MATTERS = (
    "The client reads the clock for each request, and the kernel for each switch. A clock that "
    "costs a microsecond is in every latency, and in the CPU time of whoever is switched most."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del situation, activity
    now = machine.text(f"{FOLDER}/current_clocksource")
    if not now:
        return Finding(
            NAME,
            UNKNOWN,
            "the kernel does not tell its clock source",
            MATTERS,
            advice=MEASURE_IT,
        )
    if now in FAST:
        return Finding(NAME, FINE, f"{now}: read without a system call", MATTERS)
    offered = (machine.text(f"{FOLDER}/available_clocksource") or "").split()
    better = [name for name in FAST if name in offered]
    if not better:
        return Finding(
            NAME,
            MINOR,
            f"{now}, which is slow to read, and no better one is offered",
            MATTERS,
            advice=GIVEN_UP,
        )
    return Finding(
        NAME,
        SERIOUS,
        f"{now}, which is slow to read; {better[0]} is there",
        MATTERS,
        fix=(f"echo {better[0]} | sudo tee {FOLDER}/current_clocksource",),
        undo=(f"echo {now} | sudo tee {FOLDER}/current_clocksource",),
    )


def measure(finding: Finding, bench: Bench) -> Finding:
    effect = bench.clock
    if effect.high < CHEAP_NS:
        return finding.measured([effect], FINE)
    return finding.measured([effect], SERIOUS if effect.low > DEAR_NS else MINOR, advice=GIVEN_UP)
