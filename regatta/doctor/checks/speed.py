"""Speed: does a CPU run as fast for the one as for the other, and how long does it take to wake?"""

from regatta.doctor.activity import Activity
from regatta.doctor.finding import (
    FINE,
    MEASURE_IT,
    MINOR,
    NEGLIGIBLE_PERCENT,
    SERIOUS,
    UNKNOWN,
    Finding,
    RaceSetup,
    Subject,
    level_of,
)
from regatta.doctor.machine import Machine
from regatta.doctor.probes.bench import Bench
from regatta.machine import environment
from regatta.study.cpus import cpus_text

CPU = "/sys/devices/system/cpu"

# ---- The governor ----

GOVERNOR = Subject(
    "governor",
    "A CPU that slows down when it has little to do makes the same request more expensive under a "
    "light load than under a heavy one, and the first requests of a trial more expensive than the "
    "rest. That looks like a difference between designs, but is not.",
)
STEADY = "performance"
NO_GOVERNOR = "The firmware or the host decides: set its power profile to performance."


def inspect_governor(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    found = environment.governors(machine.path(CPU))
    pinned = {cpu: found[cpu] for cpu in setup.pinned if cpu in found}
    if not pinned:
        who = "the host does" if machine.hypervisor() else "the firmware may"
        says = f"the kernel does not set the frequency of {cpus_text(setup.pinned)}; {who}"
        return GOVERNOR.found(UNKNOWN, says, advice=MEASURE_IT)
    slow = {cpu: name for cpu, name in pinned.items() if name != STEADY}
    if not slow:
        return GOVERNOR.found(FINE, f"{cpus_text(set(pinned))} run under {STEADY}")
    words = "; ".join(
        f"{cpus_text({cpu for cpu in slow if slow[cpu] == name})}: {name}"
        for name in sorted(set(slow.values()))
    )
    driver = machine.text(f"{CPU}/cpu{min(slow)}/cpufreq/scaling_driver")
    via = f" (driver {driver})" if driver else ""
    return GOVERNOR.found(
        SERIOUS,
        f"the speed follows the load: {words}{via}",
        fix=(set_governor(STEADY, found, set(found)),),
        undo=tuple(
            set_governor(name, found, {cpu for cpu in found if found[cpu] == name})
            for name in sorted(set(found.values()))
        ),
    )


def set_governor(governor: str, found: dict[int, str], cpus: set[int]) -> str:
    """The command for these CPUs, without any tool that may be missing."""
    if cpus == set(found):
        return f"echo {governor} | sudo tee {CPU}/cpu*/cpufreq/scaling_governor"
    paths = " ".join(f"{CPU}/cpu{cpu}/cpufreq/scaling_governor" for cpu in sorted(cpus))
    return f"echo {governor} | sudo tee {paths}"


def measure_governor(finding: Finding, bench: Bench) -> Finding:
    """What counts is how long a CPU stays slow, not what its governor is called."""
    effect = bench.ramp
    level = finding.level
    if level == UNKNOWN:
        level = level_of(effect)
    elif level == SERIOUS and effect.high < NEGLIGIBLE_PERCENT:
        level = MINOR
    return finding.measured([effect], level, advice=NO_GOVERNOR)


# ---- Turbo ----

TURBO = Subject(
    "turbo",
    "Turbo speed depends on heat and on how many other CPUs are busy: a design that keeps more "
    "CPUs busy, or is raced later, gets a slower machine.",
)
STEADY_PERCENT = 2.0
"""Half of what trials of the study quick differ by: speed is then not what makes them differ."""
NO_SWITCH = "The firmware or the host decides: more blocks even it out."
# Where the kernel keeps it, and what it says when turbo is on.
SWITCHES = ((f"{CPU}/intel_pstate/no_turbo", "0"), (f"{CPU}/cpufreq/boost", "1"))


def inspect_turbo(machine: Machine, _: RaceSetup, __: Activity) -> Finding:
    for path, on in SWITCHES:
        state = machine.text(path)
        if state is None:
            continue
        if state != on:
            return TURBO.found(FINE, "turbo is off")
        off = "1" if on == "0" else "0"
        return TURBO.found(
            MINOR,
            "turbo is on: the speed depends on heat and on the other CPUs",
            fix=(f"echo {off} | sudo tee {path}",),
            undo=(f"echo {on} | sudo tee {path}",),
        )
    says = "the kernel does not say whether turbo is on"
    return TURBO.found(UNKNOWN, says, advice=MEASURE_IT)


def measure_turbo(finding: Finding, bench: Bench) -> Finding:
    effect = bench.steadiness
    level = FINE if finding.level == FINE else level_of(effect, STEADY_PERCENT)
    return finding.measured([effect], level, advice=NO_SWITCH)


# ---- Sleep ----

IDLE = Subject(
    "idle",
    "A server that waits for a request sleeps, and the time to wake its CPU is part of the "
    "latency: at low rates, most of it. Designs that sleep more often pay it more often.",
)
DEEP_US = 50
SLOW_US = 100
"""To be late by: less than this is what a switch to another thread and back costs, too."""
DEEP = (
    "Keep the CPUs awake: boot with processor.max_cstate=1 (Intel: intel_idle.max_cstate=1 too), "
    "or on a virtual machine with cpuidle_haltpoll.force=1."
)


def inspect_idle(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    states = idle_states(machine, setup.server_cpus[0])
    if not states:
        says = "the kernel does not control how deeply CPUs sleep"
        return IDLE.found(UNKNOWN, says, advice=MEASURE_IT)
    words = ", ".join(f"{name} {latency_us} µs" for _, name, latency_us in states)
    deep = [state for state in states if state[2] > DEEP_US]
    if not deep:
        return IDLE.found(FINE, f"all states wake up fast ({words})")
    switches = [f"sudo tee {CPU}/cpu*/cpuidle/{state}/disable" for state, _, _ in deep]
    return IDLE.found(
        MINOR,
        f"the deepest sleep takes {max(latency for _, _, latency in deep)} µs to end ({words})",
        fix=tuple(f"echo 1 | {switch}" for switch in switches),
        undo=tuple(f"echo 0 | {switch}" for switch in switches),
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


def measure_idle(finding: Finding, bench: Bench) -> Finding:
    effect = bench.wake
    return finding.measured([effect], FINE if effect.high < SLOW_US else MINOR, advice=DEEP)


# ---- The battery ----

POWER = Subject(
    "power",
    "A machine on battery caps its speed, more so as the battery empties and the case heats up: "
    "designs raced later get a slower machine.",
)
SUPPLIES = "/sys/class/power_supply"


def inspect_power(machine: Machine, _: RaceSetup, __: Activity) -> Finding:
    for name in machine.names(SUPPLIES):
        # A wireless mouse has a battery too.
        if machine.text(f"{SUPPLIES}/{name}/scope") == "Device":
            continue
        if machine.text(f"{SUPPLIES}/{name}/status") == "Discharging":
            says = f"the machine runs on its battery ({name})"
            return POWER.found(SERIOUS, says, advice="Plug it in before a race.")
    return POWER.found(FINE, "the machine does not run on a battery")
