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
from regatta.measure import environment
from regatta.measure.network.steering import Steering
from regatta.measure.race.race import doctor_warnings
from regatta.record.study.limits import UNSTEERED
from tests.commands import Done, run
from tests.lab import fake_machines as machines
from tests.lab import reports, rootless

ROOT = Path(__file__).resolve().parents[3]
CPU = "/sys/devices/system/cpu"
GROUP = "/sys/fs/cgroup/box.slice"
CONFIG = "boot/config-6.8.0-41-generic"
CLOCK = f"/{machines.CLOCK}/current_clocksource"
STATUS = "proc/self/status"
USER, AS_ROOT = (f"{machines.quiet()['proc/self/status']}\nUid:\t{uid}\t{uid}" for uid in (1000, 0))
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


def case(
    kind: Callable[[], Files],
    levels: str,
    *words_shown: str,
    files: Files | None = None,
    **setup: Any,
) -> tuple[Files, dict[str, Any], str, tuple[str, ...]]:
    """A machine with changed files and the setup of a race there; its findings that are not fine,
    a serious one with `!`, an unknown one with `?`; and words of the screen."""
    return kind() | (files or {}), setup, levels, words_shown


def siblings() -> Files:
    return {f"{machines.CPU}/cpu{cpu}/topology/thread_siblings_list": "0-1" for cpu in (0, 1)}


MOUSE = "sys/class/power_supply/hidpp_battery_0"
FEW_FILES = {"proc/self/limits": machines.limits(63_000, 4096)}
IRQ_TIME = {CONFIG: "CONFIG_IRQ_TIME_ACCOUNTING=y"}
GOVERNORS = f"sudo tee {CPU}/cpu*/cpufreq/scaling_governor"
CASES = {
    "a quiet machine": case(machines.quiet, ""),
    "a laptop": case(
        machines.laptop,
        "smt! governor! turbo idle power! clock! counters",
        f"fix    echo off | sudo tee {CPU}/smt/control",
        f"fix    echo performance | {GOVERNORS}",
        f"undo   echo powersave | {GOVERNORS}",
        f"fix    echo 1 | sudo tee {CPU}/intel_pstate/no_turbo",
        f"undo   echo 0 | sudo tee {CPU}/intel_pstate/no_turbo",
        f"fix    echo 1 | sudo tee {CPU}/cpu*/cpuidle/state1/disable",
        "the machine runs on battery (BAT0)",
        f"fix    echo tsc | sudo tee {CLOCK}",
        f"undo   echo hpet | sudo tee {CLOCK}",
        "fix    sudo sysctl kernel.nmi_watchdog=0",
        "4 serious, 3 minor, 0 unknown, 14 fine",
    ),
    "two governors": case(
        machines.quiet,
        "governor!",
        "CPU 1: schedutil",
        f"undo   echo schedutil | sudo tee {CPU}/cpu1/cpufreq/scaling_governor",
        f"undo   echo performance | sudo tee {CPU}/cpu0/cpufreq/scaling_governor {CPU}/cpu2",
        files={f"{machines.CPU}/cpu1/cpufreq/scaling_governor": "schedutil"},
    ),
    "an idle sibling": case(
        machines.quiet,
        "smt",
        f"fix    echo 0 | sudo tee {CPU}/cpu1/online",
        f"undo   echo 1 | sudo tee {CPU}/cpu1/online",
        files=siblings(),
        client_cpus=(2, 3),
    ),
    "a virtual machine": case(
        machines.cloud,
        "cpus governor? turbo? idle? steal! counters paranoid",
        "a virtual machine (Example Cloud): 10.0 % of a CPU was stolen",
        "perf may count nothing",
        "fix    sudo sysctl kernel.perf_event_paranoid=-1",
        "undo   sudo sysctl kernel.perf_event_paranoid=4",
    ),
    "a user with the capability for perf": case(
        machines.quiet,
        "",
        "paranoid is 4, but this user is exempt",
        files={
            STATUS: "CapEff:\t0000004000000000\nCpus_allowed_list:\t0-3",
            "proc/sys/kernel/perf_event_paranoid": "4",
        },
    ),
    "a container": case(
        machines.container,
        "quota! descriptors! tasks! ports! backlog",
        "the quota is 1.5 CPUs; it was throttled 321 times",
        f"fix    echo max | sudo tee {GROUP}/cpu.max",
        f"undo   echo 150000 100000 | sudo tee {GROUP}/cpu.max",
        f"fix    echo max | sudo tee {GROUP}/pids.max",
        "fix    sudo prlimit --pid $$ --nofile=10164:10164",
        "undo   sudo prlimit --pid $$ --nofile=200:200",
        'undo   sudo sysctl net.ipv4.ip_local_port_range="40000 40499"',
        "undo   sudo sysctl net.core.somaxconn=16",
    ),
    "a network of its own": case(
        machines.container, "quota! descriptors! tasks!", placement="netns"
    ),
    "a study within the limits but for its bursts": case(
        machines.container, "quota! ports! backlog!", connections=100
    ),
    "limits of the largest studies": case(machines.quiet, "descriptors", files=FEW_FILES),
    "a large study": case(
        machines.quiet, "descriptors! backlog!", files=FEW_FILES, connections=5000
    ),
    "few processes for this user": case(
        machines.quiet,
        "tasks",
        "fix    sudo prlimit --pid $$ --nproc=10164:10164",
        files={"proc/self/limits": machines.limits(300, 1_048_576)},
    ),
    "no tracked connection": case(
        machines.quiet, "", "0 connections are tracked", files=tracked(0)
    ),
    "tracked connections": case(
        machines.quiet,
        "tracking",
        "150 connections are tracked, of at most 262,144",
        "race --placement netns",
        files=tracked(150),
    ),
    "a full table of connections": case(
        machines.quiet,
        "tracking!",
        "fix    sudo sysctl net.netfilter.nf_conntrack_max=1048576",
        "undo   sudo sysctl net.netfilter.nf_conntrack_max=262144",
        files=tracked(260_000),
    ),
    "a table that concerns no namespace": case(
        machines.quiet, "", files=tracked(260_000), placement="netns"
    ),
    "the battery of a mouse": case(
        machines.quiet, "", files={f"{MOUSE}/scope": "Device", f"{MOUSE}/status": "Discharging"}
    ),
    "busy programs, and the terminal": case(
        machines.busy,
        "load!",
        "45 % of the server's CPU 0",
        "rustc) ?[31m (x (pid 70) 41 %",
        "do     Stop what you do not need",
    ),
    "a side on CPUs of two kinds": case(
        machines.hybrid,
        "cpu-kinds!",
        "do     Pin each side to CPUs of one kind",
        client_cpus=(1, 2),
    ),
    "CPUs of two capacities, one for each side": case(
        machines.quiet,
        "cpu-kinds",
        "capacity 1024: CPU 0; capacity 512: CPU 1",
        "Pin each side to CPUs of one kind",
        files={f"{machines.CPU}/cpu{cpu}/cpu_capacity": str(1024 - 512 * cpu) for cpu in (0, 1)},
    ),
    **{
        f"containers in the network {network}": case(
            machines.quiet, "", words, placement="containers", network=network
        )
        for network, words in (
            ("bridge", "ports: a race has its own network"),
            ("veth", "ports: a race has its own network"),
            ("host", "ports: 28,232 ports (32768 to 60999)"),
        )
    },
    "one CPU, and a kernel that tells nothing": case(
        machines.bare,
        "cpus! governor? turbo? idle? clock? counters paranoid? irq-time? ports? backlog?",
        client_cpus=(0,),
    ),
    **{
        f"no control groups: {words}": case(
            machines.quiet,
            "accounting",
            words,
            files={STATUS: status, "proc/self/mounts": f"x /sys/fs/cgroup {mount} 0 0"},
            control_groups=False,
        )
        for status, mount, words in (
            (USER, "cgroup2 rw", "fix    sudo regatta race"),
            (AS_ROOT, "tmpfs rw", "sudo mount -t cgroup2 none"),
        )
    },
    "interrupts that no program is charged for": case(
        machines.quiet,
        "irq-time",
        # The kernel does not tell whether it does so.
        "was built to charge",
        "Also read CPU busy per request",
        files=IRQ_TIME,
    ),
    "an unknown charge of interrupts": case(
        machines.quiet, "irq-time?", files={CONFIG: "# nothing"}
    ),
    "interrupt time switched off": case(
        machines.quiet, "", files={**IRQ_TIME, "proc/cmdline": "quiet tsc=noirqtime"}
    ),
    **{
        f"no steering on {placement}: {words}": case(
            machines.quiet,
            "steering",
            words,
            files={STATUS: status},
            placement=placement,
            steering=Steering(UNSTEERED, "it is not permitted"),
        )
        for placement, status, words in (
            ("loopback", AS_ROOT, "fix    sudo regatta race --placement netns"),
            ("netns", USER, "fix    sudo regatta race\n"),
            ("netns", AS_ROOT, "do     it is not permitted"),
        )
    },
}
MARKS = {SERIOUS: "!", MINOR: "", UNKNOWN: "?"}


@pytest.mark.parametrize("name", CASES)
def test_a_machine_has_these_findings_with_remedies(name: str, tmp_path: Path) -> None:
    files, setup, levels, words_shown = CASES[name]
    found = examined(files, tmp_path, **setup)
    assert list(found) == list(CHECKS)
    bad = [finding for finding in found.values() if finding.level != FINE]
    assert " ".join(finding.name + MARKS[finding.level] for finding in bad) == levels
    assert all(finding.says and finding.matters for finding in found.values())
    for finding in bad:
        assert finding.fix or finding.advice, finding.name
        lasting = [line for line in finding.fix if "regatta race" not in line]
        assert bool(lasting) == bool(finding.undo), finding.name
    screen = shown(found)
    assert "\x1b" not in screen
    for words in words_shown:
        assert words in screen


def test_kernel_options_are_also_read_from_proc_config(tmp_path: Path) -> None:
    machine = machines.build(machines.quiet(), tmp_path)
    packed = gzip.compress(b"CONFIG_A=y\nCONFIG_IRQ_TIME_ACCOUNTING=y\nCONFIG_HZ=250\n")
    machine.path("proc/config.gz").write_bytes(packed)
    assert environment.irq_time_accounting(tmp_path) is True
    assert environment.kernel_setting("CONFIG_HZ", tmp_path) == "250"
    assert environment.kernel_setting("CONFIG_NOWHERE", tmp_path) is None


def test_commands_are_never_wrapped_and_the_worst_comes_first(tmp_path: Path) -> None:
    found = examined(machines.laptop(), tmp_path)
    text = shown(found, width=40)
    for finding in found.values():
        for command in (*finding.fix, *finding.undo):
            assert any(line.endswith(command) for line in text.splitlines()), command
    assert text.index("serious") < text.index("minor") < text.index("fine")
    assert "--measure" in text


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
    lines = doctor_warnings(found)
    assert len(lines) == len(found)
    assert all("regatta doctor" in line and "\n" not in line for line in lines)
