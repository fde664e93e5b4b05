"""Contention for the CPUs of a race: other programs, other guests of the host, a CPU quota."""

from regatta.checks.doctor.activity import Activity, Other, cpu_quota, throttled
from regatta.checks.doctor.finding import (
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
from regatta.checks.doctor.machine import Machine
from regatta.checks.doctor.probes.bench import Bench
from regatta.record.study.cpus import cpus_text

# ---- Other programs ----

LOAD = Subject(
    "load",
    "Another program on the server's CPU takes time and cache from it: requests wait and cost "
    "more. Both sides are pinned and cannot move away.",
)
NAMED = 3
# Processes below this are housekeeping and not worth stopping.
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
    # A tick is 10 ms; shares of one or two ticks may be rounding.
    if worst <= max(NEGLIGIBLE_PERCENT, 2.0 / activity.seconds):
        return LOAD.found(FINE, words)
    fix, undo = pauses(busiest)
    advice = "Stop what you do not need, or wait until it ends"
    advice += "; the commands pause it (do not use them on your desktop)." if fix else "."
    level = SERIOUS if worst > SERIOUS_PERCENT else MINOR
    return LOAD.found(level, words, fix=fix, undo=undo, advice=advice)


def pauses(others: tuple[Other, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Commands that pause the busy processes and resume them."""
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
    return finding.measured(effects, level, advice="See which programs: top -b -n 1 | head -n 15")


# ---- The host ----

STEAL = Subject(
    "steal",
    "While the host runs another guest, requests wait. The host may report that time as steal, or "
    "not at all; then only jumps of the clock reveal it. Nothing is stolen from an idle CPU, so an "
    "idle machine looks better than it is.",
)
INTERRUPTS = (
    "Move interrupts to CPUs that do not race: /proc/interrupts lists them, "
    "/proc/irq/NUMBER/smp_affinity_list sets their CPUs."
)
ANOTHER_HOST = (
    "It cannot be changed from inside the machine: use bare metal or dedicated CPUs, or race more "
    "blocks."
)


def inspect_steal(machine: Machine, setup: RaceSetup, activity: Activity) -> Finding:
    host = machine.hypervisor()
    now = max((activity.steal.get(cpu, 0.0) for cpu in setup.pinned), default=0.0)
    stolen, wanted = activity.since_boot
    since_boot = 100 * stolen / max(1, wanted)
    if host is None and not stolen:
        return STEAL.found(FINE, "not a virtual machine, and no steal time")
    words = (
        f"a virtual machine ({host or 'unknown host'}): {now:.1f} % of a CPU was stolen in "
        f"{activity.seconds:.1f} s, and {since_boot:.2g} % of the demand since boot"
    )
    level = SERIOUS if now > NEGLIGIBLE_PERCENT else MINOR
    return STEAL.found(level, words, advice=ANOTHER_HOST)


def measure_steal(finding: Finding, bench: Bench) -> Finding:
    """Decided by jumps of the clock: the host may not report steal."""
    effects = bench.lost["unseen"]
    level = SERIOUS if finding.level == SERIOUS else FINE
    for effect in effects:
        level = worse(level, level_of(effect))
    return finding.measured(effects, level, advice=INTERRUPTS)


# ---- The quota of a control group ----

QUOTA = Subject(
    "quota",
    "A container with a CPU quota runs at full speed until the quota is used up, then stops for "
    "the rest of the period (100 ms): latencies show stalls that no design caused.",
)
# perf and the lab need CPU time in addition to the pinned CPUs.
ROOM = 1.0


def inspect_quota(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    limit = cpu_quota(machine)
    if limit is None:
        return QUOTA.found(FINE, "no CPU quota")
    times = throttled(machine)
    words = f"the quota is {limit.value:.3g} CPUs; it was throttled {times:,} times so far"
    if limit.value >= len(setup.pinned) + ROOM:
        return QUOTA.found(FINE, words)
    free = "-1" if limit.path.endswith("cfs_quota_us") else "max"
    return QUOTA.found(
        SERIOUS,
        f"{words}, and a race here needs more than {len(setup.pinned)}",
        fix=(f"echo {free} | sudo tee {limit.path}",),
        undo=(f"echo {limit.text} | sudo tee {limit.path}",),
        advice="From outside a container: docker update --cpus 0 NAME. Use --cpuset-cpus "
        "instead of a quota.",
    )
