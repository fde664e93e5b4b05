"""The CPUs of a race: enough of them, of one kind, on cores of their own, steady in speed, and free
of other programs."""

from regatta.checks.doctor.activity import Activity
from regatta.checks.doctor.finding import (
    FINE,
    MINOR,
    NEGLIGIBLE_PERCENT,
    SERIOUS,
    SERIOUS_PERCENT,
    UNKNOWN,
    Finding,
    RaceSetup,
    switch,
)
from regatta.checks.doctor.machine import Machine, cpu_quota, throttled
from regatta.measure import environment
from regatta.record.study.cpus import cpus_text

MEASURE_IT = "Measure it: regatta doctor --measure"
CPU = "/sys/devices/system/cpu"
SUPPLIES = "/sys/class/power_supply"

COMFORTABLE_CPUS = 4
STEADY = "performance"
DEEP_US = 50
NAMED = 3
# perf and the lab need CPU time in addition to the pinned CPUs.
SPARE_CPUS = 1.0
# The file, its content when turbo is on, and when it is off.
TURBO_SWITCHES = (
    (f"{CPU}/intel_pstate/no_turbo", "0", "1"),
    (f"{CPU}/cpufreq/boost", "1", "0"),
)


def number(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    allowed = machine.allowed_cpus()
    words = f"{len(allowed)} usable ({cpus_text(allowed)})"
    both = set(setup.server_cpus) & set(setup.client_cpus)
    if both:
        says = f"server and client share {cpus_text(both)}; {words}"
        return Finding(SERIOUS, says, advice="Use a machine with two CPUs or more.")
    if len(allowed) < COMFORTABLE_CPUS:
        says = f"{words}; the lab, perf and interrupts share CPUs with the server or the client"
        return Finding(MINOR, says, advice="Use four or more, or race more blocks.")
    return Finding(FINE, words)


def kinds(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    found = _cpus_by_kind(machine)
    if len(found) < 2:
        return Finding(FINE, "all CPUs are of one kind, according to the kernel")
    words = "; ".join(f"{name}: {cpus_text(cpus)}" for name, cpus in found.items())

    def used(cpus: tuple[int, ...]) -> list[str]:
        return [name for name, alike in found.items() if set(alike) & set(cpus)]

    if len(used(setup.pinned)) < 2:
        return Finding(FINE, f"all pinned CPUs are {''.join(used(setup.pinned))} ({words})")
    mixed = any(len(used(side)) > 1 for side in (setup.server_cpus, setup.client_cpus))
    return Finding(
        SERIOUS if mixed else MINOR,
        f"the pinned CPUs are of different kinds ({words})",
        advice="Pin each side to CPUs of one kind: --server-cpus, --client-cpus.",
    )


def _cpus_by_kind(machine: Machine) -> dict[str, tuple[int, ...]]:
    """The CPUs of each kind, the fastest first; at most one kind if all are alike."""
    devices = (("large", "cpu_core"), ("small", "cpu_atom"))
    found = {kind: machine.cpu_set(f"/sys/devices/{device}/cpus") for kind, device in devices}
    if any(found.values()):
        return {kind: cpus for kind, cpus in found.items() if cpus}
    capacity = {
        cpu: value
        for cpu in machine.allowed_cpus()
        if (value := machine.number(f"{CPU}/cpu{cpu}/cpu_capacity")) is not None
    }
    return {
        f"capacity {size}": tuple(cpu for cpu in capacity if capacity[cpu] == size)
        for size in sorted(set(capacity.values()), reverse=True)
    }


def cores(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    server = set(setup.server_cpus)
    words = cpus_text(server)
    siblings = set().union(*map(machine.siblings, server)) - server
    inside = {cpu for cpu in server if machine.siblings(cpu) & server - {cpu}}
    with_client = siblings & set(setup.client_cpus)
    if with_client:
        says = f"the client's {cpus_text(with_client)} and the server's {words} share a core"
        return Finding(
            SERIOUS,
            says,
            **switch("off", "on", f"echo {{}} | sudo tee {CPU}/smt/control"),
            advice="Or choose CPUs of different cores with --server-cpus (see lscpu -e).",
        )
    if siblings:
        return Finding(
            MINOR,
            f"{cpus_text(siblings)} shares a core with the server's {words}; "
            "races leave it idle, but other programs may use it",
            **switch(
                0, 1, *(f"echo {{}} | sudo tee {CPU}/cpu{c}/online" for c in sorted(siblings))
            ),
        )
    if inside:
        return Finding(
            MINOR,
            f"the server's {cpus_text(inside)} share a core, so its workers slow each other down",
            advice="Choose CPUs of different cores with --server-cpus (see lscpu -e).",
        )
    hidden = "; the host may hide it, so measure" if machine.hypervisor() else ""
    return Finding(FINE, f"no other CPU shares a core with the server's {words}{hidden}")


def governor(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    found = environment.governors(machine.path(CPU))
    pinned = {cpu: found[cpu] for cpu in setup.pinned if cpu in found}
    if not pinned:
        controller = "the host does" if machine.hypervisor() else "the firmware may"
        says = f"the kernel does not set the frequency of {cpus_text(setup.pinned)}; {controller}"
        return Finding(UNKNOWN, says, advice=MEASURE_IT)
    slow = {cpu: name for cpu, name in pinned.items() if name != STEADY}
    if not slow:
        return Finding(FINE, f"{cpus_text(set(pinned))} run under {STEADY}")
    words = "; ".join(f"{cpus_text(cpus)}: {name}" for name, cpus in _cpus_by(slow).items())
    driver = machine.text(f"{CPU}/cpu{min(slow)}/cpufreq/scaling_driver")
    via = f" (driver {driver})" if driver else ""
    file = "cpufreq/scaling_governor"
    every = f"{CPU}/cpu*/{file}"
    by_name = _cpus_by(found)
    undo = {name: " ".join(f"{CPU}/cpu{cpu}/{file}" for cpu in by_name[name]) for name in by_name}
    if len(undo) == 1:
        undo = dict.fromkeys(undo, every)
    return Finding(
        SERIOUS,
        f"the frequency follows the load: {words}{via}",
        # Without tools that may be missing.
        fix=(f"echo {STEADY} | sudo tee {every}",),
        undo=tuple(f"echo {name} | sudo tee {paths}" for name, paths in undo.items()),
    )


def _cpus_by(governors: dict[int, str]) -> dict[str, list[int]]:
    return {
        name: sorted(cpu for cpu in governors if governors[cpu] == name)
        for name in sorted(set(governors.values()))
    }


def turbo(machine: Machine, *_: object) -> Finding:
    for path, on, off in TURBO_SWITCHES:
        state = machine.text(path)
        if state == on:
            says = "turbo is on: the speed depends on temperature and on the other CPUs"
            return Finding(MINOR, says, **switch(off, on, f"echo {{}} | sudo tee {path}"))
        if state is not None:
            return Finding(FINE, "turbo is off")
    says = "the kernel does not report whether turbo is on"
    return Finding(UNKNOWN, says, advice="Firmware or host control it; race more blocks.")


def idle(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    # By the file of each enabled idle state: its name and exit latency.
    states: dict[str, tuple[str, int]] = {}
    folder = f"{CPU}/cpu{setup.server_cpus[0]}/cpuidle"
    for state in machine.names(folder):
        latency_us = machine.number(f"{folder}/{state}/latency")
        if latency_us is not None and machine.text(f"{folder}/{state}/disable") != "1":
            states[state] = (machine.text(f"{folder}/{state}/name") or state, latency_us)
    if not states:
        says = "the kernel does not control the idle states of the CPUs"
        return Finding(UNKNOWN, says, advice=MEASURE_IT)
    words = ", ".join(f"{name} {latency_us} µs" for name, latency_us in states.values())
    deep = {state: latency_us for state, (_, latency_us) in states.items() if latency_us > DEEP_US}
    if not deep:
        return Finding(FINE, f"all idle states wake up quickly ({words})")
    files = (f"{CPU}/cpu*/cpuidle/{state}/disable" for state in deep)
    return Finding(
        MINOR,
        f"leaving the deepest idle state takes {max(deep.values())} µs ({words})",
        **switch(1, 0, *(f"echo {{}} | sudo tee {file}" for file in files)),
        advice="Without deep idle states the machine uses more power and may reach less turbo.",
    )


def power(machine: Machine, *_: object) -> Finding:
    for name in machine.names(SUPPLIES):
        # One of the scope Device is the battery of a peripheral, such as a mouse.
        if (
            machine.text(f"{SUPPLIES}/{name}/scope") != "Device"
            and machine.text(f"{SUPPLIES}/{name}/status") == "Discharging"
        ):
            says = f"the machine runs on battery ({name})"
            return Finding(SERIOUS, says, advice="Plug it in before a race.")
    return Finding(FINE, "the machine does not run on battery")


def load(_: Machine, setup: RaceSetup, activity: Activity) -> Finding:
    server = max((activity.busy.get(cpu, 0.0) for cpu in setup.server_cpus), default=0.0)
    client = [activity.busy.get(cpu, 0.0) for cpu in setup.client_cpus]
    of_client = sum(client) / max(1, len(client))
    words = (
        f"in {activity.seconds:.1f} s other programs used {server:.0f} % of the server's "
        f"{cpus_text(setup.server_cpus)} and {of_client:.0f} % of the client's "
        f"{cpus_text(setup.client_cpus)}"
    )
    busiest = activity.others[:NAMED]
    if busiest:
        named = (f"{other.name} (pid {other.pid}) {other.percent:.0f} %" for other in busiest)
        words += f"; on all CPUs: {', '.join(named)}"
    worst = max(server, of_client)
    # A tick is 10 ms; shares of one or two ticks may be rounding.
    if worst <= max(NEGLIGIBLE_PERCENT, 2.0 / activity.seconds):
        return Finding(FINE, words)
    level = SERIOUS if worst > SERIOUS_PERCENT else MINOR
    return Finding(level, words, advice="Stop what you do not need, or wait until it ends.")


def steal(machine: Machine, setup: RaceSetup, activity: Activity) -> Finding:
    host = machine.hypervisor()
    now = max((activity.steal.get(cpu, 0.0) for cpu in setup.pinned), default=0.0)
    stolen, wanted = activity.since_boot
    if host is None and not stolen:
        return Finding(FINE, "not a virtual machine, and no steal time")
    return Finding(
        SERIOUS if now > NEGLIGIBLE_PERCENT else MINOR,
        f"a virtual machine ({host or 'unknown host'}): {now:.1f} % of a CPU was stolen in "
        f"{activity.seconds:.1f} s, and {100 * stolen / max(1, wanted):.2g} % of the demand since "
        "boot",
        advice="It cannot be changed from inside the machine: use bare metal or dedicated CPUs, "
        "or race more blocks.",
    )


def quota(machine: Machine, setup: RaceSetup, *_: object) -> Finding:
    limit = cpu_quota(machine)
    if limit is None:
        return Finding(FINE, "no CPU quota")
    times = throttled(machine)
    words = f"the quota is {limit.value:.3g} CPUs; it was throttled {times:,} times so far"
    if limit.value >= len(setup.pinned) + SPARE_CPUS:
        return Finding(FINE, words)
    return Finding(
        SERIOUS,
        f"{words}, and a race here needs more than {len(setup.pinned)}",
        **switch("max", limit.text, f"echo {{}} | sudo tee {limit.path}"),
        advice="From outside a container: docker update --cpus 0 NAME. Use --cpuset-cpus "
        "instead of a quota.",
    )
