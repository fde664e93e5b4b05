"""Made-up machines for the doctor: folders with the files of /proc and /sys that it reads.

Each kind is a quiet machine of four CPUs and what is different there. Files below `later` are what
their namesakes hold a second later.
"""

from pathlib import Path

from regatta.checks.doctor.activity import Activity, between, read_ticks
from regatta.checks.doctor.machine import Machine

LAB = 99
"""The process id of the lab, on all of them."""
CPU = "sys/devices/system/cpu"
CLOCK = "sys/devices/system/clocksource/clocksource0"
USER_THREAD, KERNEL_THREAD = 0x400000, 0x4208040 | 0x200000
Files = dict[str, str]


def stat(*cpus: tuple[int, ...]) -> str:
    """/proc/stat: user, nice, system, idle, iowait, irq, softirq, steal of each CPU, in ticks."""
    return "".join(f"cpu{i} {' '.join(map(str, cpu))} 0 0\n" for i, cpu in enumerate(cpus))


def process(pid: int, name: str, ticks: int, parent: int = 1, flags: int = USER_THREAD) -> str:
    return f"{pid} ({name}) R {parent} 1 1 0 -1 {flags} 0 0 0 0 {ticks} 0 0 0 20 0 1 0 100 0 0 0"


def limits(processes: int, files: int) -> str:
    return (
        "Limit                     Soft Limit           Hard Limit           Units\n"
        f"Max processes             {processes}   {processes}   processes\n"
        f"Max open files            {files // 2}   {files}   files\n"
    )


def quiet(cpus: int = 4) -> Files:
    """Nothing here spoils a race."""
    files = {
        "proc/self/status": f"CapEff:\t0000000000000000\nCpus_allowed_list:\t0-{cpus - 1}",
        "proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu tsc",
        "proc/self/limits": limits(63_000, 1_048_576),
        "proc/self/cgroup": "0::/",
        "proc/sys/kernel/osrelease": "6.8.0-41-generic",
        "boot/config-6.8.0-41-generic": "# CONFIG_IRQ_TIME_ACCOUNTING is not set",
        "proc/sys/kernel/perf_event_paranoid": "-1",
        "proc/sys/kernel/threads-max": "126000",
        "proc/sys/kernel/nmi_watchdog": "0",
        "proc/sys/net/core/somaxconn": "4096",
        "proc/sys/net/ipv4/ip_local_port_range": "32768\t60999",
        "proc/net/sockstat": "sockets: used 200\nTCP: inuse 5 orphan 0 tw 12 alloc 9 mem 1",
        "proc/stat": stat(*[(1000, 0, 1000, 9000, 0, 0, 0, 0)] * cpus),
        "later/proc/stat": stat(*[(1000, 0, 1000, 9100, 0, 0, 0, 0)] * cpus),
        "usr/bin/perf": "",
        "sys/bus/event_source/devices/cpu/type": "4",
        f"{CLOCK}/current_clocksource": "tsc",
        f"{CLOCK}/available_clocksource": "tsc hpet acpi_pm",
        f"{CPU}/intel_pstate/no_turbo": "1",
        f"{CPU}/cpu0/cpuidle/state0/name": "POLL",
        f"{CPU}/cpu0/cpuidle/state0/latency": "0",
    }
    for cpu in range(cpus):
        files[f"{CPU}/cpu{cpu}/cpufreq/scaling_governor"] = "performance"
        files[f"{CPU}/cpu{cpu}/cpufreq/scaling_driver"] = "intel_pstate"
        files[f"{CPU}/cpu{cpu}/topology/thread_siblings_list"] = str(cpu)
    return files


def laptop() -> Files:
    """SMT, powersave, turbo, deep sleep, a slow clock, and on its battery."""
    files = quiet() | {
        f"{CPU}/intel_pstate/no_turbo": "0",
        f"{CPU}/smt/control": "on",
        f"{CPU}/cpu0/cpuidle/state1/name": "C10",
        f"{CPU}/cpu0/cpuidle/state1/latency": "890",
        f"{CLOCK}/current_clocksource": "hpet",
        "sys/class/power_supply/hidpp_battery_0/scope": "Device",
        "sys/class/power_supply/hidpp_battery_0/status": "Discharging",
        "sys/class/power_supply/BAT0/status": "Discharging",
        "proc/sys/kernel/nmi_watchdog": "1",
    }
    for cpu in range(4):
        files[f"{CPU}/cpu{cpu}/cpufreq/scaling_governor"] = "powersave"
        files[f"{CPU}/cpu{cpu}/topology/thread_siblings_list"] = "0-1" if cpu < 2 else "2-3"
    return files


def cloud() -> Files:
    """A virtual machine: stolen time, no counters, paranoid 4, and no word on frequencies."""
    hidden = ("cpufreq", "intel_pstate", "event_source", "cpuidle")
    files = {name: text for name, text in quiet(2).items() if not any(h in name for h in hidden)}
    return files | {
        "proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu tsc hypervisor",
        "sys/class/dmi/id/sys_vendor": "Example Cloud",
        "sys/bus/event_source/devices/software/type": "1",
        "proc/sys/kernel/perf_event_paranoid": "4",
        "proc/stat": stat(*[(1000, 0, 1000, 9000, 0, 0, 0, 60)] * 2),
        "later/proc/stat": stat(
            (1001, 0, 1000, 9089, 0, 0, 0, 70), (1000, 0, 1000, 9100, 0, 0, 0, 60)
        ),
    }


def container() -> Files:
    """A quota and a limit of tasks on the group above, few descriptors, a small network."""
    group = "sys/fs/cgroup/box.slice"
    return quiet() | {
        "proc/self/cgroup": "0::/box.slice/work",
        f"{group}/cpu.max": "150000 100000",
        f"{group}/cpu.stat": "usage_usec 1\nnr_periods 900\nnr_throttled 321",
        f"{group}/pids.max": "200",
        f"{group}/work/cpu.max": "max 100000",
        f"{group}/work/pids.max": "max",
        "proc/self/limits": limits(63_000, 200),
        "proc/sys/net/core/somaxconn": "16",
        "proc/sys/net/ipv4/ip_local_port_range": "40000\t40499",
    }


def busy() -> Files:
    """Others at work on the server's CPU, one with a name that no terminal should obey."""
    name = "rustc) \x1b[31m (x"
    return quiet() | {
        "proc/70/stat": process(70, name, 5000),
        "later/proc/70/stat": process(70, name, 5041),
        "proc/71/stat": process(71, "kworker/0:1", 100, 2, KERNEL_THREAD),
        "later/proc/71/stat": process(71, "kworker/0:1", 104, 2, KERNEL_THREAD),
        f"proc/{LAB}/stat": process(LAB, "regatta", 100),
        f"later/proc/{LAB}/stat": process(LAB, "regatta", 190),
        "later/proc/stat": stat(
            (1041, 0, 1004, 9055, 0, 0, 0, 0), *[(1000, 0, 1000, 9100, 0, 0, 0, 0)] * 3
        ),
    }


def hybrid() -> Files:
    """Two large cores and four small ones."""
    return quiet(6) | {"sys/devices/cpu_core/cpus": "0-1", "sys/devices/cpu_atom/cpus": "2-5"}


def bare() -> Files:
    """One CPU, and a kernel that tells nothing."""
    return {"proc/self/status": "Cpus_allowed_list:\t0"}


KINDS = (quiet, laptop, cloud, container, busy, hybrid, bare)


def build(files: Files, folder: Path) -> Machine:
    """The machine as a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text.rstrip()}\n")
    return Machine(folder)


def second(machine: Machine) -> Activity:
    """What happens on it in the next second."""
    later = Machine(machine.root / "later")
    return between(read_ticks(machine), read_ticks(later), 1.0, LAB)
