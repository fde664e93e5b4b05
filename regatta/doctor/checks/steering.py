"""Steering: on whose CPU does the kernel receive what is sent over the cable?"""

from __future__ import annotations

from regatta.doctor.activity import Activity
from regatta.doctor.finding import FINE, MINOR, Finding, Situation
from regatta.doctor.machine import Machine
from regatta.machine.placement import LOOPBACK
from regatta.machine.steering import OWN_SIDE, End

NAME = "steering"
ENTRIES = "/proc/sys/net/core/rps_sock_flow_entries"
MATTERS = (
    "A virtual cable delivers on the CPU that sends. So without steering the client's CPU does the "
    "server's part of TCP and wakes its workers, and the client is charged for it; the server pays "
    "for what the client receives. Designs that have more to wake look cheaper than they are."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del activity
    steering = situation.steering
    cable = ends_text(steering.server, machine.number(ENTRIES) or 0)
    if steering.kind == OWN_SIDE:
        says = f"each side's CPUs process what is sent to it (RPS){cable}"
        return Finding(NAME, FINE, says, MATTERS)
    says = f"each side's CPUs receive what they have sent themselves{cable}"
    if situation.placement == LOOPBACK:
        return Finding(NAME, MINOR, says, MATTERS, fix=("sudo regatta race --placement netns",))
    if (machine.status("Uid") or "").split()[:1] != ["0"]:
        return Finding(NAME, MINOR, says, MATTERS, fix=("sudo regatta race",))
    return Finding(NAME, MINOR, says, MATTERS, advice=steering.note or "")


def ends_text(end: End | None, entries: int) -> str:
    """What the cable is and what else decides who receives; both ends are made alike."""
    if end is None:
        return ""
    parts = [end.cable] if end.cable else []
    parts += [] if end.gro is None else [f"GRO {'on' if end.gro else 'off'}"]
    parts += [f"RFS {'on' if end.rfs_flows and entries else 'off'}"]
    return f"; {', '.join(parts)}"
