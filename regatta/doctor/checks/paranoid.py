"""perf_event_paranoid: what the kernel lets perf count for somebody who is not root."""

from __future__ import annotations

from regatta.doctor.activity import Activity
from regatta.doctor.finding import FINE, MINOR, UNKNOWN, Finding, Situation
from regatta.doctor.machine import CAP_PERFMON, CAP_SYS_ADMIN, Machine

NAME = "paranoid"
PATH = "/proc/sys/kernel/perf_event_paranoid"
ALL = -1
OWN_KERNEL = 1
USER_ONLY = 2
MATTERS = (
    "What perf may not count is missing from every table: a server's context switches and most of "
    "its CPU time happen in the kernel."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del situation, activity
    value = machine.number(PATH)
    if value is None:
        return Finding(
            NAME,
            UNKNOWN,
            "the kernel does not tell what perf may count",
            MATTERS,
            advice="Try it: perf stat true",
        )
    told = f"kernel.perf_event_paranoid is {value}"
    if machine.may(CAP_PERFMON) or machine.may(CAP_SYS_ADMIN):
        return Finding(NAME, FINE, f"{told}, and does not bind this user", MATTERS)
    if value <= ALL:
        return Finding(NAME, FINE, f"{told}: everything may be counted", MATTERS)
    if value <= OWN_KERNEL:
        lacking = "all but tracepoints: no system calls are counted"
    elif value == USER_ONLY:
        lacking = "no context switches, and nothing of what is done in the kernel"
    else:
        lacking = "perf may count nothing"
    return Finding(
        NAME,
        MINOR,
        f"{told}: {lacking}",
        MATTERS,
        fix=(f"sudo sysctl kernel.perf_event_paranoid={ALL}",),
        undo=(f"sudo sysctl kernel.perf_event_paranoid={value}",),
        advice="Tracepoints also need to be read: sudo mount -o remount,mode=755 "
        "/sys/kernel/tracing. Until the next boot every user may then count every process.",
    )
