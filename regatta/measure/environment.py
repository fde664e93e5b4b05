"""Facts about a machine that are needed to interpret its results."""

import gzip
import os
import platform
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regatta import __version__
from regatta.measure.perf import Perf
from regatta.measure.places.sides import Placement
from regatta.measure.processes import read_text
from regatta.measure.programs import Programs
from regatta.record.study import Study

CPU = Path("/sys/devices/system/cpu")
CLOCK_SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
ROOT = Path("/")
NOT_SET = "n"
WITHOUT_IRQ_TIME = "tsc=noirqtime"


def cpu_info(field: str) -> str | None:
    """The first value of a field of /proc/cpuinfo."""
    for line in (read_text("/proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return None


def cpu_model() -> str:
    return cpu_info("model name") or cpu_info("Model") or platform.machine()


def kernel() -> str:
    return platform.release()


def distribution() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def mitigations() -> dict[str, str]:
    paths = sorted((CPU / "vulnerabilities").glob("*"))
    return {path.name: read_text(path) or "unknown" for path in paths}


def governors(folder: Path = CPU) -> dict[int, str]:
    """The frequency governor of each CPU that has one."""
    paths = {int(path.name[3:]): path for path in folder.glob("cpu[0-9]*")}
    texts = {cpu: read_text(paths[cpu] / "cpufreq/scaling_governor") for cpu in sorted(paths)}
    return {cpu: text for cpu, text in texts.items() if text}


def turbo() -> str | None:
    """Whether the CPU may exceed its nominal frequency; None where the kernel does not show it."""
    no_turbo = read_text(CPU / "intel_pstate/no_turbo")
    if no_turbo is not None:
        return "off" if no_turbo == "1" else "on"
    boost = read_text(CPU / "cpufreq/boost")
    return None if boost is None else "on" if boost == "1" else "off"


def virtualisation() -> str | None:
    """The hypervisor's vendor, if the machine is virtual."""
    vendor = read_text("/sys/class/dmi/id/sys_vendor")
    if "hypervisor" in (cpu_info("flags") or "").split():
        return vendor or "a hypervisor"
    return read_text("/sys/hypervisor/type")


def identity() -> tuple[str | None, str, str]:
    """Identifies this machine since its last boot."""
    return read_text("/proc/sys/kernel/random/boot_id"), cpu_model(), kernel()


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def irq_time_accounting(root: Path = ROOT) -> bool | None:
    """Whether interrupt time is accounted separately, so that no task is charged for it.

    None: unknown. The kernel may also turn it off at run time if its clock is unstable; that cannot
    be read.
    """
    built = kernel_setting("CONFIG_IRQ_TIME_ACCOUNTING", root)
    if built is None:
        return None
    return built == "y" and WITHOUT_IRQ_TIME not in (read_text(root / "proc/cmdline") or "").split()


def kernel_setting(name: str, root: Path = ROOT) -> str | None:
    """The value of a setting, `n` if it is not set; None where the configuration is missing."""
    lines = kernel_configuration(root).splitlines()
    if f"# {name} is not set" in lines:
        return NOT_SET
    return next((line.partition("=")[2] for line in lines if line.startswith(f"{name}=")), None)


def kernel_configuration(root: Path = ROOT) -> str:
    """The running kernel's configuration; empty where it is not found."""
    release = read_text(root / "proc/sys/kernel/osrelease") or ""
    try:
        return gzip.decompress((root / "proc/config.gz").read_bytes()).decode(errors="replace")
    except (OSError, EOFError, zlib.error):
        files = (root / f"boot/config-{release}", root / f"lib/modules/{release}/config")
        return next((text for path in files if (text := read_text(path))), "")


def facts() -> dict[str, Callable[[], Any]]:
    """Each fact about the host, by its name in the ledger."""
    return {
        "cpu_model": cpu_model,
        "cpus": os.cpu_count,
        "cpus_allowed": lambda: sorted(os.sched_getaffinity(0)),
        "smt": lambda: read_text(CPU / "smt/control"),
        "governor": lambda: ", ".join(sorted(set(governors().values()))) or None,
        "turbo": turbo,
        "mitigations": mitigations,
        "kernel": kernel,
        "architecture": platform.machine,
        "distribution": distribution,
        "virtualisation": virtualisation,
        "clock_source": lambda: read_text(CLOCK_SOURCE),
        "memory_bytes": memory_bytes,
        "load_average": lambda: list(os.getloadavg()),
        "perf_event_paranoid": lambda: read_text("/proc/sys/kernel/perf_event_paranoid"),
        "somaxconn": lambda: read_text("/proc/sys/net/core/somaxconn"),
        "irq_time_accounting": irq_time_accounting,
        "rps_sock_flow_entries": lambda: read_text("/proc/sys/net/core/rps_sock_flow_entries"),
    }


def read_facts() -> dict[str, Any]:
    return {name: fact() for name, fact in facts().items()}


def describe(study: Study, programs: Programs, perf: Perf, placement: Placement) -> dict[str, Any]:
    """The environment of a race, as recorded in its ledger."""
    read = [side.ask(read_facts) for side in placement.hosts]
    described = dict(read[0])
    if len(read) > 1:
        described["client_hosts"] = {
            side.name: found for side, found in zip(placement.hosts[1:], read[1:], strict=True)
        }
    described["placement"] = placement.describe()
    described["perf_version"] = perf.version
    described["perf_note"] = perf.note
    described["perf_events"] = list(perf.openable)
    described["perf_follows"] = perf.follows
    described["perf_topdown"] = perf.metric_group
    described["versions"] = {
        "regatta": __version__,
        "server": programs.server_version,
        "client": programs.client_version,
        "perf": perf.version,
        "python": platform.python_version(),
    }
    described["designs"] = {design.name: design.summary for design in programs.designs}
    described["left_out"] = dict(study.left_out)
    return described
