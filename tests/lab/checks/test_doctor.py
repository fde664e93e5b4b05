"""The doctor finds what is wrong with simulated machines, and the commands that fix it."""

import gzip
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regatta.checks.doctor.examine import CHECKS, examine, serious
from regatta.checks.doctor.finding import FINE, MINOR, SERIOUS, UNKNOWN, Finding, RaceSetup, show
from regatta.measure import kernel_config
from regatta.measure.network.steering import LinkEnd, Steering
from regatta.measure.race.race import doctor_warnings
from regatta.record.study.limits import UNSTEERED
from tests.commands import Done, run
from tests.lab import fake_machines as machines
from tests.lab import reports, rootless

ROOT = Path(__file__).resolve().parents[3]
CPU = "/sys/devices/system/cpu"
GROUP = "/sys/fs/cgroup/box.slice"
OLD_QUOTA = "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"
CONFIG = "boot/config-6.8.0-41-generic"
CLOCK = f"/{machines.CLOCK}/current_clocksource"
STATUS = "proc/self/status"
USER, AS_ROOT = (f"{machines.quiet()['proc/self/status']}\nUid:\t{uid}\t{uid}" for uid in (1000, 0))
LINK_END = LinkEnd("server", "veth", False, ((),), 4096)
UNSTEERED_RACE = {"steering": Steering(UNSTEERED, "it is not permitted", LINK_END, LINK_END)}
CONTAINERS = {"placement": "containers"}
FLOWS = {"proc/sys/net/core/rps_sock_flow_entries": "32768"}
Files = machines.Files
Findings = dict[str, Finding]


def race_setup(**changes: Any) -> RaceSetup:
    return RaceSetup(
        **{"server_cpus": (0,), "client_cpus": (1,), "placement": "loopback"} | changes
    )


def examined(files: Files, folder: Path, **setup: Any) -> Findings:
    machine = machines.build(files, folder)
    findings = examine(machine, race_setup(**setup), machines.second(machine))
    return {finding.name: finding for finding in findings}


def shown(findings: Findings, width: int = 1000, measured: bool = False) -> str:
    everything = list(findings.values())
    return reports.printed(lambda console: show(console, everything, measured), width=width)


def tracked(count: int) -> Files:
    folder = "proc/sys/net/netfilter/nf_conntrack_"
    return {f"{folder}count": str(count), f"{folder}max": "262144"}


Case = tuple[Callable[[], Files], Files, dict[str, Any], dict[str, str], list[str]]
CASES: dict[str, Case] = {
    # A machine, its changed files, the changed setup of the race; the findings that are not fine,
    # and words of the screen.
    "a quiet machine": (machines.quiet, {}, {}, {}, []),
    "a laptop": (
        machines.laptop,
        {},
        {},
        {
            **{"smt": SERIOUS, "governor": SERIOUS, "turbo": MINOR, "idle": MINOR},
            **{"power": SERIOUS, "clock": SERIOUS, "counters": MINOR},
        },
        [
            "fix    regatta race --server-cpus 0 --client-cpus 2-3",
            f"fix    echo performance | sudo tee {CPU}/cpu*/cpufreq/scaling_governor",
            f"undo   echo powersave | sudo tee {CPU}/cpu*/cpufreq/scaling_governor",
            f"fix    echo 1 | sudo tee {CPU}/intel_pstate/no_turbo",
            f"undo   echo 0 | sudo tee {CPU}/intel_pstate/no_turbo",
            f"fix    echo 1 | sudo tee {CPU}/cpu*/cpuidle/state1/disable",
            "the machine runs on battery (BAT0)",
            f"fix    echo tsc | sudo tee {CLOCK}",
            f"undo   echo hpet | sudo tee {CLOCK}",
            "fix    sudo sysctl kernel.nmi_watchdog=0",
            "4 serious, 3 minor, 0 unknown, 15 fine",
        ],
    ),
    "two governors": (
        machines.quiet,
        {f"{machines.CPU}/cpu1/cpufreq/scaling_governor": "schedutil"},
        {},
        {"governor": SERIOUS},
        [
            "CPU 1: schedutil",
            f"undo   echo schedutil | sudo tee {CPU}/cpu1/cpufreq/scaling_governor",
            f"undo   echo performance | sudo tee {CPU}/cpu0/cpufreq/scaling_governor {CPU}/cpu2",
        ],
    ),
    "an idle sibling": (
        machines.quiet,
        {f"{machines.CPU}/cpu{cpu}/topology/thread_siblings_list": "0-1" for cpu in (0, 1)},
        {"client_cpus": (2, 3)},
        {"smt": MINOR},
        [f"fix    echo 0 | sudo tee {CPU}/cpu1/online", f"undo   echo 1 | sudo tee {CPU}/cpu1/onl"],
    ),
    "one core for both sides": (
        lambda: machines.quiet(2),
        {f"{machines.CPU}/cpu{cpu}/topology/thread_siblings_list": "0-1" for cpu in (0, 1)},
        {},
        {"smt": SERIOUS, "cpus": MINOR},
        [f"fix    echo off | sudo tee {CPU}/smt/control"],
    ),
    "a virtual machine": (
        machines.cloud,
        {},
        {},
        {
            **{"cpus": MINOR, "governor": UNKNOWN, "turbo": UNKNOWN, "idle": UNKNOWN},
            **{"steal": SERIOUS, "counters": MINOR, "paranoid": MINOR},
        },
        [
            "a virtual machine (Example Cloud): 10.0 % of a CPU was stolen",
            "perf may count nothing",
            "fix    sudo sysctl kernel.perf_event_paranoid=-1",
            "undo   sudo sysctl kernel.perf_event_paranoid=4",
        ],
    ),
    "a user with the capability for perf": (
        machines.quiet,
        {
            STATUS: "CapEff:\t0000004000000000\nCpus_allowed_list:\t0-3",
            "proc/sys/kernel/perf_event_paranoid": "4",
        },
        {},
        {},
        ["paranoid is 4, but this user is exempt"],
    ),
    "a container": (
        machines.container,
        {},
        {},
        {
            **{"quota": SERIOUS, "descriptors": SERIOUS, "tasks": SERIOUS},
            **{"ports": SERIOUS, "backlog": MINOR},
        },
        [
            "the quota is 1.5 CPUs; it was throttled 321 times",
            f"fix    echo max | sudo tee {GROUP}/cpu.max",
            f"undo   echo 150000 100000 | sudo tee {GROUP}/cpu.max",
            f"fix    echo max | sudo tee {GROUP}/pids.max",
            "fix    sudo prlimit --pid $$ --nofile=10164:10164",
            "undo   sudo prlimit --pid $$ --nofile=200:200",
            'undo   sudo sysctl net.ipv4.ip_local_port_range="40000 40499"',
            "undo   sudo sysctl net.core.somaxconn=16",
        ],
    ),
    "a network of its own": (
        machines.container,
        {},
        {"placement": "netns"},
        {"quota": SERIOUS, "descriptors": SERIOUS, "tasks": SERIOUS},
        [],
    ),
    "a study within the limits but for its bursts": (
        machines.container,
        {},
        {"connections": 100},
        {"quota": SERIOUS, "ports": SERIOUS, "backlog": SERIOUS},
        [],
    ),
    "an old container": (
        machines.old_container,
        {},
        {},
        {"quota": SERIOUS},
        [f"fix    echo -1 | sudo tee {OLD_QUOTA}", f"undo   echo 200000 | sudo tee {OLD_QUOTA}"],
    ),
    "limits that affect only the largest studies": (
        machines.quiet,
        {"proc/self/limits": machines.limits(63_000, 4096)},
        {},
        {"descriptors": MINOR},
        [],
    ),
    "a large study": (
        machines.quiet,
        {"proc/self/limits": machines.limits(63_000, 4096)},
        {"connections": 5000},
        {"descriptors": SERIOUS, "backlog": SERIOUS},
        [],
    ),
    "few processes for this user": (
        machines.quiet,
        {"proc/self/limits": machines.limits(300, 1_048_576)},
        {},
        {"tasks": MINOR},
        ["fix    sudo prlimit --pid $$ --nproc=10164:10164"],
    ),
    "no tracked connection": (machines.quiet, tracked(0), {}, {}, ["0 connections are tracked"]),
    "tracked connections": (
        machines.quiet,
        tracked(150),
        {},
        {"tracking": MINOR},
        ["150 connections are tracked, of at most 262,144", "race --placement netns"],
    ),
    "a full table of connections": (
        machines.quiet,
        tracked(260_000),
        {},
        {"tracking": SERIOUS},
        [
            "fix    sudo sysctl net.netfilter.nf_conntrack_max=1048576",
            "undo   sudo sysctl net.netfilter.nf_conntrack_max=262144",
        ],
    ),
    "a table that concerns no namespace": (
        machines.quiet,
        tracked(260_000),
        {"placement": "netns"},
        {},
        [],
    ),
    "the battery of a mouse": (
        machines.quiet,
        {
            "sys/class/power_supply/hidpp_battery_0/scope": "Device",
            "sys/class/power_supply/hidpp_battery_0/status": "Discharging",
        },
        {},
        {},
        [],
    ),
    "busy programs, and the terminal": (
        machines.busy,
        {},
        {},
        {"load": SERIOUS},
        [
            "45 % of the server's CPU 0",
            "rustc) ?[31m (x (pid 70) 41 %",
            "fix    sudo kill -STOP 70\n",
            "undo   sudo kill -CONT 70\n",
        ],
    ),
    "a side on CPUs of two kinds": (
        machines.hybrid,
        {},
        {"client_cpus": (1, 2)},
        {"cpu-kinds": SERIOUS},
        ["fix    regatta race --server-cpus 0 --client-cpus 1\n"],
    ),
    "CPUs of two capacities, one for each side": (
        machines.quiet,
        {f"{machines.CPU}/cpu{cpu}/cpu_capacity": str(1024 - 512 * cpu) for cpu in (0, 1)},
        {},
        {"cpu-kinds": MINOR},
        ["capacity 1024: CPU 0; capacity 512: CPU 1", "Pin each side to CPUs of one kind."],
    ),
    **{
        f"containers in the network {network}": (
            machines.quiet,
            {},
            {**CONTAINERS, "network": network},
            {},
            [words],
        )
        for network, words in (
            ("bridge", "ports: a race has its own network"),
            ("veth", "ports: a race has its own network"),
            ("host", "ports: 28,232 ports (32768 to 60999)"),
        )
    },
    "a container engine": (
        machines.quiet,
        {"usr/sbin/podman": ""},
        {"engine": "podman 4.3.1"},
        {},
        ["podman 4.3.1 works"],
    ),
    "a container engine that fails": (
        machines.quiet,
        {"usr/sbin/podman": ""},
        {"engine_refused": "podman: no runtime"},
        {"containers": MINOR},
        ["containers: podman: no runtime", "fix    sudo apt-get install podman runc"],
    ),
    "no container engine": (
        machines.quiet,
        {},
        {"engine_refused": "podman: no runtime"},
        {},
        ["no engine, so no races in containers; to install one: sudo apt-get"],
    ),
    "one CPU, and a kernel that tells nothing": (
        machines.bare,
        {},
        {"client_cpus": (0,)},
        {
            **{"cpus": SERIOUS, "counters": MINOR},
            **dict.fromkeys(("governor", "turbo", "idle", "clock", "paranoid"), UNKNOWN),
            **dict.fromkeys(("irq-time", "ports", "backlog"), UNKNOWN),
        },
        [],
    ),
    "control groups that are root's": (
        machines.quiet,
        {STATUS: USER, "proc/self/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0"},
        {"control_groups": False},
        {"accounting": MINOR},
        ["fix    sudo regatta race"],
    ),
    "control groups that are read-only": (
        machines.quiet,
        {STATUS: AS_ROOT, "proc/self/mounts": "cgroup2 /sys/fs/cgroup cgroup2 ro 0 0"},
        {"control_groups": False},
        {"accounting": MINOR},
        ["docker run --privileged"],
    ),
    "control groups that are not mounted": (
        machines.quiet,
        {STATUS: AS_ROOT, "proc/self/mounts": "tmpfs /sys/fs/cgroup tmpfs rw 0 0"},
        {"control_groups": False},
        {"accounting": MINOR},
        ["sudo mount -t cgroup2 none", "undo   sudo umount"],
    ),
    "interrupts that no program is charged for": (
        machines.quiet,
        {CONFIG: "CONFIG_IRQ_TIME_ACCOUNTING=y"},
        {},
        {"irq-time": MINOR},
        # The kernel does not tell whether it does so.
        ["was built to charge", "Also read CPU busy per request"],
    ),
    "an unknown charge of interrupts": (
        machines.quiet,
        {CONFIG: "# nothing"},
        {},
        {"irq-time": UNKNOWN},
        [],
    ),
    "interrupt time switched off": (
        machines.quiet,
        {CONFIG: "CONFIG_IRQ_TIME_ACCOUNTING=y", "proc/cmdline": "quiet tsc=noirqtime"},
        {},
        {},
        [],
    ),
    **{
        f"no steering on {placement} with {status[-1]}": (
            machines.quiet,
            {STATUS: status, **FLOWS},
            {**UNSTEERED_RACE, "placement": placement},
            {"steering": MINOR},
            ["veth, GRO off, RFS on", words],
        )
        for placement, status, words in (
            ("loopback", AS_ROOT, "fix    sudo regatta race --placement netns"),
            ("netns", USER, "fix    sudo regatta race\n"),
            ("netns", AS_ROOT, "do     it is not permitted"),
        )
    },
}


@pytest.mark.parametrize("name", CASES)
def test_a_machine_has_these_findings_with_remedies(name: str, tmp_path: Path) -> None:
    kind, changes, setup, levels, told = CASES[name]
    found = examined(kind() | changes, tmp_path, **setup)
    assert list(found) == list(CHECKS)
    assert {one.name: one.level for one in found.values() if one.level != FINE} == levels
    for finding in found.values():
        assert finding.says
        assert finding.matters
        assert finding.level == FINE or finding.fix or finding.advice, finding.name
        lasting = [line for line in finding.fix if "regatta race" not in line]
        assert bool(lasting and "apt-get install podman" not in lasting[0]) == bool(finding.undo)
    screen = shown(found)
    for words in told:
        assert words in screen


def test_kernel_options_are_also_read_from_proc_config(tmp_path: Path) -> None:
    machine = machines.build(machines.quiet(), tmp_path)
    packed = gzip.compress(b"CONFIG_A=y\nCONFIG_IRQ_TIME_ACCOUNTING=y\nCONFIG_HZ=250\n")
    machine.path("proc/config.gz").write_bytes(packed)
    assert kernel_config.irq_time_accounting(tmp_path) is True
    assert kernel_config.setting("CONFIG_HZ", tmp_path) == "250"
    assert kernel_config.setting("CONFIG_NOWHERE", tmp_path) is None


def test_commands_are_never_wrapped_and_the_worst_comes_first(tmp_path: Path) -> None:
    found = examined(machines.laptop(), tmp_path)
    text = shown(found, width=40)
    for finding in found.values():
        for command in (*finding.fix, *finding.undo):
            assert any(line.endswith(command) for line in text.splitlines()), command
    assert text.index("serious") < text.index("minor") < text.index("fine")
    assert "--measure" in text


def test_control_characters_in_process_names_are_escaped(tmp_path: Path) -> None:
    files = machines.busy()
    for folder in ("", "later/"):
        files[f"{folder}proc/70/stat"] = files[f"{folder}proc/70/stat"].replace("rustc", "[red]x")
    text = shown(examined(files, tmp_path), measured=True)
    assert "[red]x) ?[31m (x (pid 70)" in text
    assert "\x1b" not in text
    assert "Other programs were running" in text


def doctor(*arguments: str) -> Done:
    command = (sys.executable, "-m", "regatta", "doctor", *arguments)
    return run(*command, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120)


def test_text_and_json_say_the_same() -> None:
    done = doctor("--json", "--placement", "loopback")
    document = json.loads(done.stdout)
    assert done.stderr == ""
    assert [finding["name"] for finding in document["findings"]] == list(CHECKS)
    worst = [finding for finding in document["findings"] if finding["level"] == SERIOUS]
    assert document["serious"] == len(worst)
    assert done.returncode == (1 if worst else 0)
    text = doctor("--placement", "loopback").stdout
    for name in CHECKS:
        assert f"{name}: " in text
    assert "\x1b" not in text


def test_it_works_for_an_unprivileged_user(tmp_path: Path) -> None:
    rootless.need_python()
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    code = (
        "import sys; from regatta.verbs.main import main; "
        "sys.argv = ['regatta', 'doctor', '--json', '--placement', 'loopback']; main()"
    )
    # A folder of PATH that this user may not enter is skipped.
    done = rootless.run_python(code, PATH=f"{closed}:{os.environ['PATH']}")
    levels = {f["name"]: f["level"] for f in json.loads(done.stdout)["findings"]}
    assert levels["accounting"] == MINOR
    assert list(levels) == list(CHECKS)


@pytest.mark.parametrize(
    "arguments", [("--placement", "moon"), ("--server-cpus", "x"), ("--server-cpus", "9999")]
)
def test_a_usage_error_is_one_line(arguments: tuple[str, ...]) -> None:
    done = doctor(*arguments)
    assert done.returncode == 2
    assert arguments[1] in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_race_warns_of_each_serious_finding_in_one_line(tmp_path: Path) -> None:
    machine = machines.build(machines.laptop(), tmp_path)
    found = serious(race_setup(placement="netns"), machine)
    assert list(found) == ["smt", "governor", "power", "clock"]
    told = doctor_warnings(found)
    assert len(told) == len(found)
    assert all("regatta doctor" in line and "\n" not in line for line in told)
