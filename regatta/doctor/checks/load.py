"""Other load: whatever else runs on the CPUs of a race takes from whoever is raced just then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regatta.doctor.activity import Activity, Other
from regatta.doctor.finding import (
    FINE,
    MINOR,
    NEGLIGIBLE_PERCENT,
    SERIOUS,
    SERIOUS_PERCENT,
    Finding,
    Situation,
    level_of,
    worse,
)
from regatta.doctor.machine import Machine
from regatta.study.cpus import cpus_text

if TYPE_CHECKING:
    from regatta.doctor.probes.bench import Bench

NAME = "load"
NAMED = 3
# A process worth stopping; all others together are the machine's own housekeeping.
WORTH_STOPPING_PERCENT = 2.0
MATTERS = (
    "Another program on the server's CPU takes its caches and its turns: requests wait, and cost "
    "more. Both sides are pinned and cannot move away from it."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del machine
    server = max((activity.busy.get(cpu, 0.0) for cpu in situation.server_cpus), default=0.0)
    client = [activity.busy.get(cpu, 0.0) for cpu in situation.client_cpus]
    of_client = sum(client) / max(1, len(client))
    worst = max(server, of_client)
    told = (
        f"in {activity.seconds:.1f} s others used {server:.0f} % of the server's "
        f"{cpus_text(situation.server_cpus)} and {of_client:.0f} % of the client's "
        f"{cpus_text(situation.client_cpus)}"
    )
    busiest = activity.others[:NAMED]
    if busiest:
        told += "; on all CPUs: " + ", ".join(
            f"{other.name} (pid {other.pid}) {other.percent:.0f} %" for other in busiest
        )
    # A tick is 10 ms: a share below that of one tick cannot be told from none.
    if worst <= max(NEGLIGIBLE_PERCENT, 2.0 / activity.seconds):
        return Finding(NAME, FINE, told, MATTERS)
    level = SERIOUS if worst > SERIOUS_PERCENT else MINOR
    fix, undo = pauses(busiest)
    return Finding(
        NAME,
        level,
        told,
        MATTERS,
        fix=fix,
        undo=undo,
        advice="End what you do not need, or wait for its end"
        + ("; the commands pause it (not for your desktop)." if fix else "."),
    )


def pauses(others: tuple[Other, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The commands that pause who is worth it, and let them go on. Neither kernel threads nor
    the lab's own terminal can be."""
    worth = [
        other for other in others if other.percent >= WORTH_STOPPING_PERCENT and other.may_pause
    ]
    if not worth:
        return (), ()
    pids = " ".join(str(other.pid) for other in worth)
    return (f"sudo kill -STOP {pids}",), (f"sudo kill -CONT {pids}",)


def measure(finding: Finding, bench: Bench) -> Finding:
    effects = bench.lost["others"]
    level = finding.level
    for effect in effects:
        level = worse(level, level_of(effect))
    return finding.measured(effects, level, advice="Find who it is: top -b -n 1 | head -n 15")
