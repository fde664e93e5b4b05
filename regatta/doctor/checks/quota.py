"""A control group's CPU quota: a group that used its share is stopped until the next period."""

from __future__ import annotations

from regatta.doctor.activity import Activity
from regatta.doctor.cgroup import cpu_quota, throttled
from regatta.doctor.finding import FINE, SERIOUS, Finding, Situation
from regatta.doctor.machine import Machine

NAME = "quota"
# Client, server, perf and the lab together need a little more than their pinned CPUs at times.
ROOM = 1.0
MATTERS = (
    "A container with a quota runs at full speed until its share is used, and then not at all for "
    "the rest of the period (100 ms): in the latencies that is a stall of up to 100 ms, of the "
    "server or of the client, that no design has caused."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    limit = cpu_quota(machine)
    if limit is None:
        return Finding(NAME, FINE, "no control group limits the CPU time", MATTERS)
    times = throttled(machine)
    told = f"a control group may use {limit.value:.3g} CPUs; it was stopped {times:,} times so far"
    if limit.value >= len(situation.pinned) + ROOM:
        return Finding(NAME, FINE, told, MATTERS)
    free = "-1" if limit.path.endswith("cfs_quota_us") else "max"
    return Finding(
        NAME,
        SERIOUS,
        f"{told}, and a race here wants {len(situation.pinned)} and a little more",
        MATTERS,
        fix=(f"echo {free} | sudo tee {limit.path}",),
        undo=(f"echo {limit.text} | sudo tee {limit.path}",),
        advice="From outside of a container: docker update --cpus 0 NAME; pin it instead with "
        "--cpuset-cpus.",
    )
