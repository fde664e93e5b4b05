"""Speed of the CPUs: governor, turbo, idle states and battery."""

from regatta.checks.doctor.activity import Activity
from regatta.checks.doctor.finding import (
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
from regatta.checks.doctor.machine import Machine
from regatta.checks.doctor.probes.bench import Bench
from regatta.measure import environment
from regatta.record.study.cpus import cpus_text

CPU = "/sys/devices/system/cpu"

# ---- The governor ----

GOVERNOR = Subject(
    "governor",
    "A CPU that slows down when idle makes requests more expensive under a light load and at the "
    "start of a trial. That looks like a difference between designs, but is not.",
)
STEADY = "performance"
NO_GOVERNOR = "Set the power profile of the firmware or the host to performance."


def inspect_governor(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    found = environment.governors(machine.path(CPU))
    pinned = {cpu: found[cpu] for cpu in setup.pinned if cpu in found}
    if not pinned:
        controller = "the host does" if machine.hypervisor() else "the firmware may"
        says = f"the kernel does not set the frequency of {cpus_text(setup.pinned)}; {controller}"
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
        f"the frequency follows the load: {words}{via}",
        fix=(set_governor(STEADY, found, set(found)),),
        undo=tuple(
            set_governor(name, found, {cpu for cpu in found if found[cpu] == name})
            for name in sorted(set(found.values()))
        ),
    )


def set_governor(governor: str, found: dict[int, str], cpus: set[int]) -> str:
    """The command for these CPUs, without tools that may be missing."""
    if cpus == set(found):
        return f"echo {governor} | sudo tee {CPU}/cpu*/cpufreq/scaling_governor"
    paths = " ".join(f"{CPU}/cpu{cpu}/cpufreq/scaling_governor" for cpu in sorted(cpus))
    return f"echo {governor} | sudo tee {paths}"


def measure_governor(finding: Finding, bench: Bench) -> Finding:
    """The level follows from how long the CPU stays slow, not from the governor's name."""
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
    "Turbo speed depends on temperature and on how many CPUs are busy: a design that keeps more "
    "CPUs busy, or runs later, gets a slower machine.",
)
STEADY_PERCENT = 2.0
"""Half of the spread of trials of the study quick: speed is then not its main cause."""
NO_SWITCH = "Firmware or host control it; race more blocks."
# The file, and its content when turbo is on.
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
            "turbo is on: the speed depends on temperature and on the other CPUs",
            fix=(f"echo {off} | sudo tee {path}",),
            undo=(f"echo {on} | sudo tee {path}",),
        )
    says = "the kernel does not report whether turbo is on"
    return TURBO.found(UNKNOWN, says, advice=MEASURE_IT)


def measure_turbo(finding: Finding, bench: Bench) -> Finding:
    effect = bench.steadiness
    level = FINE if finding.level == FINE else level_of(effect, STEADY_PERCENT)
    return finding.measured([effect], level, advice=NO_SWITCH)


# ---- Idle states ----

IDLE = Subject(
    "idle",
    "When a server waits for requests its CPU may sleep, and the wake-up is part of the latency: "
    "at low rates, most of it. Designs that block more often pay it more often.",
)
DEEP_US = 50
SLOW_US = 100
"""Delay of a wake-up; less than this is comparable to a context switch and back."""
DEEP = (
    "Keep the CPUs awake: boot with processor.max_cstate=1 (Intel: intel_idle.max_cstate=1 too), "
    "or on a virtual machine with cpuidle_haltpoll.force=1."
)


def inspect_idle(machine: Machine, setup: RaceSetup, _: Activity) -> Finding:
    states = idle_states(machine, setup.server_cpus[0])
    if not states:
        says = "the kernel does not control the idle states of the CPUs"
        return IDLE.found(UNKNOWN, says, advice=MEASURE_IT)
    words = ", ".join(f"{name} {latency_us} µs" for _, name, latency_us in states)
    deep = [state for state in states if state[2] > DEEP_US]
    if not deep:
        return IDLE.found(FINE, f"all idle states wake up quickly ({words})")
    switches = [f"sudo tee {CPU}/cpu*/cpuidle/{state}/disable" for state, _, _ in deep]
    return IDLE.found(
        MINOR,
        f"leaving the deepest idle state takes {max(state[2] for state in deep)} µs ({words})",
        fix=tuple(f"echo 1 | {switch}" for switch in switches),
        undo=tuple(f"echo 0 | {switch}" for switch in switches),
        advice="Without deep idle states the machine uses more power and may reach less turbo.",
    )


def idle_states(machine: Machine, cpu: int) -> list[tuple[str, str, int]]:
    """File, name and exit latency (µs) of each enabled idle state."""
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
    "On battery a machine limits its speed, more as the battery drains and the case heats up: "
    "designs that run later get a slower machine.",
)
SUPPLIES = "/sys/class/power_supply"


def inspect_power(machine: Machine, _: RaceSetup, __: Activity) -> Finding:
    for name in machine.names(SUPPLIES):
        # The battery of a peripheral, such as a mouse.
        if machine.text(f"{SUPPLIES}/{name}/scope") == "Device":
            continue
        if machine.text(f"{SUPPLIES}/{name}/status") == "Discharging":
            says = f"the machine runs on battery ({name})"
            return POWER.found(SERIOUS, says, advice="Plug it in before a race.")
    return POWER.found(FINE, "the machine does not run on battery")
