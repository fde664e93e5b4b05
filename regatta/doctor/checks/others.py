"""Others: who takes time from a race's CPUs, the machine's programs, its host or a quota?"""

from regatta.doctor.activity import Activity, Other
from regatta.doctor.cgroup import cpu_quota, throttled
from regatta.doctor.finding import (
    FINE,
    MINOR,
    NEGLIGIBLE_PERCENT,
    SERIOUS,
    SERIOUS_PERCENT,
    Finding,
    RaceSetup,
    Subject,
    level_of,
    worse,
)
from regatta.doctor.machine import Machine
from regatta.doctor.probes.bench import Bench
from regatta.study.cpus import cpus_text

# ---- Other programs ----

LOAD = Subject(
    "load",
    "Another program on the server's CPU takes time and cache from it: requests wait, and cost "
    "more. Both sides are pinned and cannot move away.",
)
NAMED = 3
# A process worth stopping; all others together are the machine's own housekeeping.
WORTH_STOPPING_PERCENT = 2.0


def inspect_load(_: Machine, setup: RaceSetup, activity: Activity) -> Finding:
    server = max((activity.busy.get(cpu, 0.0) for cpu in setup.server_cpus), default=0.0)
    client = [activity.busy.get(cpu, 0.0) for cpu in setup.client_cpus]
    of_client = sum(client) / max(1, len(client))
    worst = max(server, of_client)
    words = (
        f"in {activity.seconds:.1f} s other programs used {server:.0f} % of the server's "
        f"{cpus_text(setup.server_cpus)} and {of_client:.0f} % of the client's "
        f"{cpus_text(setup.client_cpus)}"
    )
    busiest = activity.others[:NAMED]
    if busiest:
        words += "; on all CPUs: " + ", ".join(
            f"{other.name} (pid {other.pid}) {other.percent:.0f} %" for other in busiest
        )
    # A tick is 10 ms: a share below that of one tick cannot be told from none.
    if worst <= max(NEGLIGIBLE_PERCENT, 2.0 / activity.seconds):
        return LOAD.found(FINE, words)
    fix, undo = pauses(busiest)
    advice = "Stop what you do not need, or wait until it ends"
    advice += "; the commands pause it (not for your desktop)." if fix else "."
    level = SERIOUS if worst > SERIOUS_PERCENT else MINOR
    return LOAD.found(level, words, fix=fix, undo=undo, advice=advice)


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


def measure_load(finding: Finding, bench: Bench) -> Finding:
    effects = bench.lost["others"]
    level = finding.level
    for effect in effects:
        level = worse(level, level_of(effect))
    return finding.measured(effects, level, advice="Find out which: top -b -n 1 | head -n 15")


# ---- The host ----

STEAL = Subject(
    "steal",
    "While the host runs another guest, a request waits and the clock goes on. A host may "
    "report that time as steal, or not at all: then only a program that watches the clock sees it. "
    "Nothing is stolen from an idle CPU, so a quiet machine looks better than it is.",
)
INTERRUPTS = (
    "Send interrupts to CPUs that do not race: /proc/interrupts lists them, "
    "/proc/irq/NUMBER/smp_affinity_list says where they go."
)
ANOTHER_HOST = (
    "No command inside the machine changes it: race on a machine of your own, or one with "
    "dedicated CPUs (a dedicated or metal instance), or run more blocks."
)


def inspect_steal(machine: Machine, setup: RaceSetup, activity: Activity) -> Finding:
    host = machine.hypervisor()
    now = max((activity.steal.get(cpu, 0.0) for cpu in setup.pinned), default=0.0)
    stolen, wanted = activity.since_boot
    since_boot = 100 * stolen / max(1, wanted)
    if host is None and not stolen:
        return STEAL.found(FINE, "not a virtual machine, and nothing was stolen")
    words = (
        f"a virtual machine ({host or 'of an unknown host'}): {now:.1f} % of a CPU was stolen in "
        f"{activity.seconds:.1f} s, and since the boot {since_boot:.2g} % of what it wanted to run"
    )
    level = SERIOUS if now > NEGLIGIBLE_PERCENT else MINOR
    return STEAL.found(level, words, advice=ANOTHER_HOST)


def measure_steal(finding: Finding, bench: Bench) -> Finding:
    """On a virtual machine nothing but the clock's own jumps tells; they decide."""
    effects = bench.lost["unseen"]
    level = SERIOUS if finding.level == SERIOUS else FINE
    for effect in effects:
        level = worse(level, level_of(effect))
    return finding.measured(effects, level, advice=INTERRUPTS)


# ---- The quota of a control group ----

QUOTA = Subject(
    "quota",
    "A container with a quota runs at full speed until its share is used, then not at all for the "
    "rest of the period (100 ms): latencies show a stall of up to 100 ms that no design caused.",
)
# Client, server, perf and the lab together need a little more than their pinned CPUs at times.
ROOM = 1.0


def inspect_quota(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    limit = cpu_quota(machine)
    if limit is None:
        return QUOTA.found(FINE, "no control group limits the CPU time")
    times = throttled(machine)
    words = f"a control group may use {limit.value:.3g} CPUs; it was stopped {times:,} times so far"
    if limit.value >= len(setup.pinned) + ROOM:
        return QUOTA.found(FINE, words)
    free = "-1" if limit.path.endswith("cfs_quota_us") else "max"
    return QUOTA.found(
        SERIOUS,
        f"{words}, and a race here needs a little more than {len(setup.pinned)}",
        fix=(f"echo {free} | sudo tee {limit.path}",),
        undo=(f"echo {limit.text} | sudo tee {limit.path}",),
        advice="From outside the container: docker update --cpus 0 NAME; pin it with --cpuset-cpus "
        "instead.",
    )
