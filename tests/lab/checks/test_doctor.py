"""The doctor finds what is wrong with simulated machines, and the commands that fix it."""

import gzip
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regatta.checks.doctor.examine import CHECKS, examine, serious, show
from regatta.checks.doctor.finding import FINE, MINOR, SERIOUS, UNKNOWN, Finding, RaceSetup
from regatta.measure import kernel_config
from regatta.measure.network.steering import LinkEnd, Steering
from regatta.measure.race.race import doctor_warnings
from regatta.record.study.limits import UNSTEERED
from tests.commands import Done, run
from tests.lab import fake_machines as machines
from tests.lab import reports, rootless

ROOT = Path(__file__).resolve().parents[3]
CPU = "/sys/devices/system/cpu"
LOOPBACK = RaceSetup((0,), (1,), "loopback")
Findings = dict[str, Finding]


def examined(files: machines.Files, folder: Path, situation: RaceSetup = LOOPBACK) -> Findings:
    machine = machines.build(files, folder)
    findings = examine(machine, situation, machines.second(machine))
    return {finding.name: finding for finding in findings}


def not_fine(findings: Findings) -> dict[str, str]:
    return {name: finding.level for name, finding in findings.items() if finding.level != FINE}


def test_a_quiet_machine_is_fine_throughout(tmp_path: Path) -> None:
    assert not_fine(examined(machines.quiet(), tmp_path)) == {}


def test_a_laptop_has_findings_on_all_that_varies_its_speed(tmp_path: Path) -> None:
    found = examined(machines.laptop(), tmp_path)
    assert not_fine(found) == {
        "smt": SERIOUS,
        "governor": SERIOUS,
        "turbo": MINOR,
        "idle": MINOR,
        "power": SERIOUS,
        "clock": SERIOUS,
        "counters": MINOR,
    }
    assert found["smt"].fix == ("regatta race --server-cpus 0 --client-cpus 2-3",)
    governors = f"{CPU}/cpu*/cpufreq/scaling_governor"
    assert found["governor"].fix == (f"echo performance | sudo tee {governors}",)
    assert found["governor"].undo == (f"echo powersave | sudo tee {governors}",)
    assert found["turbo"].fix == (f"echo 1 | sudo tee {CPU}/intel_pstate/no_turbo",)
    assert found["turbo"].undo == (f"echo 0 | sudo tee {CPU}/intel_pstate/no_turbo",)
    assert found["idle"].fix == (f"echo 1 | sudo tee {CPU}/cpu*/cpuidle/state1/disable",)
    assert "BAT0" in found["power"].says
    assert found["clock"].fix[0].startswith("echo tsc | sudo tee ")
    assert found["clock"].undo[0].startswith("echo hpet | sudo tee ")
    assert found["counters"].fix == ("sudo sysctl kernel.nmi_watchdog=0",)


def test_undo_restores_different_governors(tmp_path: Path) -> None:
    files = machines.quiet()
    files[f"{machines.CPU}/cpu1/cpufreq/scaling_governor"] = "schedutil"
    found = examined(files, tmp_path)["governor"]
    assert found.level == SERIOUS
    assert "CPU 1: schedutil" in found.says
    assert len(found.undo) == 2
    assert f"echo schedutil | sudo tee {CPU}/cpu1/cpufreq/scaling_governor" in found.undo


def test_an_idle_sibling_is_minor_and_can_be_taken_offline(tmp_path: Path) -> None:
    found = examined(machines.laptop(), tmp_path, RaceSetup((0,), (2, 3), "loopback"))["smt"]
    assert found.level == MINOR
    assert found.fix == (f"echo 0 | sudo tee {CPU}/cpu1/online",)
    assert found.undo == (f"echo 1 | sudo tee {CPU}/cpu1/online",)


def test_on_one_core_the_fix_is_to_switch_smt_off(tmp_path: Path) -> None:
    files = machines.laptop()
    files["proc/self/status"] = "Cpus_allowed_list:\t0-1"
    found = examined(files, tmp_path)["smt"]
    assert found.fix == (f"echo off | sudo tee {CPU}/smt/control",)


def test_a_virtual_machine_has_findings_on_steal_and_counters(tmp_path: Path) -> None:
    found = examined(machines.cloud(), tmp_path)
    assert not_fine(found) == {
        "cpus": MINOR,
        "governor": UNKNOWN,
        "turbo": UNKNOWN,
        "idle": UNKNOWN,
        "steal": SERIOUS,
        "counters": MINOR,
        "paranoid": MINOR,
    }
    assert "10.0 % of a CPU was stolen" in found["steal"].says
    assert "Example Cloud" in found["steal"].says
    assert "perf may count nothing" in found["paranoid"].says
    assert found["paranoid"].fix == ("sudo sysctl kernel.perf_event_paranoid=-1",)
    assert found["paranoid"].undo == ("sudo sysctl kernel.perf_event_paranoid=4",)


def test_a_user_with_the_capability_may_use_all_of_perf(tmp_path: Path) -> None:
    files = machines.cloud()
    files["proc/self/status"] = "CapEff:\t0000004000000000\nCpus_allowed_list:\t0-1"
    assert examined(files, tmp_path)["paranoid"].level == FINE


def test_a_container_has_findings_on_quota_and_limits(tmp_path: Path) -> None:
    found = examined(machines.container(), tmp_path)
    assert not_fine(found) == {
        "quota": SERIOUS,
        "descriptors": SERIOUS,
        "tasks": SERIOUS,
        "ports": SERIOUS,
        "backlog": MINOR,
    }
    path = "/sys/fs/cgroup/box.slice"
    assert "1.5 CPUs" in found["quota"].says
    assert "321" in found["quota"].says
    assert found["quota"].fix == (f"echo max | sudo tee {path}/cpu.max",)
    assert found["quota"].undo == (f"echo 150000 100000 | sudo tee {path}/cpu.max",)
    assert found["tasks"].fix == (f"echo max | sudo tee {path}/pids.max",)
    assert found["descriptors"].fix == ("sudo prlimit --pid $$ --nofile=10164:10164",)
    assert found["descriptors"].undo == ("sudo prlimit --pid $$ --nofile=200:200",)
    assert found["ports"].undo == ('sudo sysctl net.ipv4.ip_local_port_range="40000 40499"',)
    assert found["backlog"].undo == ("sudo sysctl net.core.somaxconn=16",)


def test_a_network_namespace_has_its_own_ports_and_backlog(tmp_path: Path) -> None:
    found = examined(machines.container(), tmp_path, RaceSetup((0,), (1,), "netns"))
    assert found["ports"].level == found["backlog"].level == FINE


@pytest.mark.parametrize(
    ("count", "level", "fix"),
    [
        (0, FINE, ()),
        (150, MINOR, ("sudo regatta race --placement netns",)),
        (260_000, SERIOUS, ("sudo sysctl net.netfilter.nf_conntrack_max=1048576",)),
    ],
)
def test_a_table_of_tracked_connections_that_is_full_is_serious(
    count: int, level: str, fix: tuple[str, ...], tmp_path: Path
) -> None:
    files = machines.quiet()
    folder = "proc/sys/net/netfilter/nf_conntrack_"
    files |= {f"{folder}count": str(count), f"{folder}max": "262144"}
    found = examined(files, tmp_path)["tracking"]
    assert (found.level, found.fix) == (level, fix)
    assert f"{count:,} connections are tracked, of at most 262,144" in found.says
    assert (found.undo != ()) == (level == SERIOUS)
    apart = RaceSetup((0,), (1,), "netns")
    assert examined(files, tmp_path, apart)["tracking"].level == FINE


def test_a_study_beyond_the_limits_is_serious(tmp_path: Path) -> None:
    fits = RaceSetup((0,), (1,), "loopback", connections=100)
    found = examined(machines.container(), tmp_path, fits)
    assert found["descriptors"].level == found["tasks"].level == FINE
    assert found["backlog"].level == SERIOUS


def test_limits_that_affect_only_the_largest_studies_are_minor(tmp_path: Path) -> None:
    files = machines.quiet()
    files["proc/self/limits"] = machines.limits(63_000, 4096)
    assert examined(files, tmp_path)["descriptors"].level == MINOR
    large = RaceSetup((0,), (1,), "loopback", connections=5000)
    assert examined(files, tmp_path, large)["descriptors"].level == SERIOUS


def test_the_battery_of_a_mouse_is_ignored(tmp_path: Path) -> None:
    files = machines.laptop()
    del files["sys/class/power_supply/BAT0/status"]
    assert examined(files, tmp_path)["power"].level == FINE


def test_a_cgroup_v1_quota_is_found_inside_a_container(tmp_path: Path) -> None:
    found = examined(machines.old_container(), tmp_path)["quota"]
    path = "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"
    assert found.level == SERIOUS
    assert found.fix == (f"echo -1 | sudo tee {path}",)
    assert found.undo == (f"echo 200000 | sudo tee {path}",)


def test_busy_programs_are_named_and_can_be_paused_but_never_the_terminal(tmp_path: Path) -> None:
    found = examined(machines.busy(), tmp_path)["load"]
    assert found.level == SERIOUS
    assert "45 % of the server's CPU 0" in found.says
    assert "rustc) ?[31m (x (pid 70) 41 %" in found.says
    assert "regatta" not in found.says
    assert found.fix == ("sudo kill -STOP 70",)
    assert found.undo == ("sudo kill -CONT 70",)


def test_a_side_on_cpus_of_two_kinds_is_serious(tmp_path: Path) -> None:
    found = examined(machines.hybrid(), tmp_path, RaceSetup((0,), (1, 2), "netns"))["cpu-kinds"]
    assert found.level == SERIOUS
    assert found.fix == ("regatta race --server-cpus 0 --client-cpus 1",)


@pytest.mark.parametrize(("network", "own"), [("bridge", True), ("veth", True), ("host", False)])
def test_containers_have_their_own_ports_unless_they_share_the_hosts(
    network: str, own: bool, tmp_path: Path
) -> None:
    setup = RaceSetup((0,), (1,), "containers", network=network)
    found = examined(machines.quiet(), tmp_path, setup)["ports"]
    assert ("a race has its own network" in found.says) == own


@pytest.mark.parametrize(
    ("installed", "works", "level", "says"),
    [
        (True, "podman 4.3.1", FINE, "podman 4.3.1 works"),
        (True, None, MINOR, "podman: no runtime"),
        (False, None, FINE, "no engine, so no races in containers; to install one: sudo apt-get"),
    ],
)
def test_a_container_engine_works_is_missing_or_says_why_it_fails(
    installed: bool, works: str | None, level: str, says: str, tmp_path: Path
) -> None:
    files = machines.quiet() | ({"usr/sbin/podman": ""} if installed else {})
    refused = None if works else "podman: no runtime"
    setup = RaceSetup((0,), (1,), "loopback", engine=works, engine_refused=refused)
    found = examined(files, tmp_path, setup)["containers"]
    assert (found.level, found.fix) == (
        level,
        ("sudo apt-get install podman runc",) * (level == MINOR),
    )
    assert says in found.says


def test_one_cpu_is_too_few_and_missing_information_is_unknown(tmp_path: Path) -> None:
    found = examined(machines.bare(), tmp_path, RaceSetup((0,), (0,), "loopback"))
    assert found["cpus"].level == SERIOUS
    unknown = {name for name, finding in found.items() if finding.level == UNKNOWN}
    untold = {"governor", "turbo", "idle", "clock", "paranoid", "irq-time", "ports", "backlog"}
    assert unknown == untold


@pytest.mark.parametrize("kind", machines.KINDS)
def test_every_problem_has_a_reason_and_a_fix_or_advice(
    kind: Callable[[], machines.Files], tmp_path: Path
) -> None:
    found = examined(kind(), tmp_path)
    assert list(found) == [check.name for check in CHECKS]
    for finding in found.values():
        assert finding.says
        assert finding.matters
        if finding.level != FINE:
            assert finding.fix or finding.advice, finding.name
        changes = [line for line in finding.fix if "regatta race" not in line]
        assert bool(changes) == bool(finding.undo), finding.name


@pytest.mark.parametrize(
    ("uid", "mounts", "remedy"),
    [
        (1000, "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0", "sudo regatta race"),
        (0, "cgroup2 /sys/fs/cgroup cgroup2 ro 0 0", "--privileged"),
        (0, "tmpfs /sys/fs/cgroup tmpfs rw 0 0", "mount -t cgroup2"),
    ],
)
def test_without_control_groups_the_fix_or_advice_says_how_to_get_them(
    uid: int, mounts: str, remedy: str, tmp_path: Path
) -> None:
    files = machines.quiet()
    files["proc/self/status"] += f"\nUid:\t{uid}\t{uid}"
    files["proc/self/mounts"] = mounts
    here = RaceSetup((0,), (1,), "loopback", control_groups=False)
    found = examined(files, tmp_path, here)["accounting"]
    assert found.level == MINOR
    assert any(remedy in text for text in (*found.fix, found.advice))


@pytest.mark.parametrize(
    ("files", "level"),
    [
        ({"boot/config-6.8.0-41-generic": "CONFIG_IRQ_TIME_ACCOUNTING=y"}, MINOR),
        ({"boot/config-6.8.0-41-generic": "# nothing"}, UNKNOWN),
        ({"boot/config-6.8.0-41-generic": "# CONFIG_IRQ_TIME_ACCOUNTING is not set"}, FINE),
        (
            {
                "boot/config-6.8.0-41-generic": "CONFIG_IRQ_TIME_ACCOUNTING=y",
                "proc/cmdline": "quiet tsc=noirqtime",
            },
            FINE,
        ),
    ],
)
def test_a_kernel_that_charges_no_program_for_interrupts_is_reported(
    files: machines.Files, level: str, tmp_path: Path
) -> None:
    found = examined(machines.quiet() | files, tmp_path)["irq-time"]
    assert found.level == level
    if level == MINOR:
        assert "CPU busy per request" in found.advice
        assert "was built to charge" in found.says, "the kernel does not tell whether it does so"


def test_kernel_options_are_also_read_from_proc_config(tmp_path: Path) -> None:
    machine = machines.build(machines.quiet(), tmp_path)
    packed = gzip.compress(b"CONFIG_A=y\nCONFIG_IRQ_TIME_ACCOUNTING=y\nCONFIG_HZ=250\n")
    machine.path("proc/config.gz").write_bytes(packed)
    assert kernel_config.irq_time_accounting(tmp_path) is True
    assert kernel_config.setting("CONFIG_HZ", tmp_path) == "250"
    assert kernel_config.setting("CONFIG_NOWHERE", tmp_path) is None


@pytest.mark.parametrize(
    ("placement", "uid", "remedy"),
    [
        ("loopback", 0, "sudo regatta race --placement netns"),
        ("netns", 1000, "sudo regatta race"),
        ("netns", 0, "it is not permitted"),
    ],
)
def test_without_steering_the_fix_or_advice_says_how_to_get_it(
    placement: str, uid: int, remedy: str, tmp_path: Path
) -> None:
    files = machines.quiet()
    files["proc/self/status"] += f"\nUid:\t{uid}\t{uid}"
    files["proc/sys/net/core/rps_sock_flow_entries"] = "32768"
    end = LinkEnd("server", "veth", False, ((),), 4096)
    steering = Steering(UNSTEERED, "it is not permitted", end, end)
    here = RaceSetup((0,), (1,), placement, steering=steering)
    found = examined(files, tmp_path, here)["steering"]
    assert found.level == MINOR
    assert "veth, GRO off, RFS on" in found.says
    assert remedy in (*found.fix, found.advice)


def shown(findings: Findings, width: int, measured: bool = False) -> str:
    everything = list(findings.values())
    return reports.printed(lambda console: show(console, everything, measured), width=width)


def test_commands_are_never_wrapped_and_the_worst_comes_first(tmp_path: Path) -> None:
    found = examined(machines.laptop(), tmp_path)
    text = shown(found, width=40)
    for finding in found.values():
        for command in (*finding.fix, *finding.undo):
            assert any(line.endswith(command) for line in text.splitlines()), command
    assert text.index("serious") < text.index("minor") < text.index("fine")
    assert "4 serious, 3 minor, 0 unknown, 15 fine" in " ".join(text.split())
    assert "--measure" in text


def test_control_characters_in_process_names_are_escaped(tmp_path: Path) -> None:
    files = machines.busy()
    for folder in ("", "later/"):
        files[f"{folder}proc/70/stat"] = files[f"{folder}proc/70/stat"].replace("rustc", "[red]x")
    text = shown(examined(files, tmp_path), width=200, measured=True)
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
    assert [finding["name"] for finding in document["findings"]] == [c.name for c in CHECKS]
    worst = [finding for finding in document["findings"] if finding["level"] == SERIOUS]
    assert document["serious"] == len(worst)
    assert done.returncode == (1 if worst else 0)
    text = doctor("--placement", "loopback").stdout
    for check in CHECKS:
        assert f"{check.name}: " in text
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
    assert set(levels) == {check.name for check in CHECKS}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--placement", "moon"), "moon"),
        (("--server-cpus", "x"), "--server-cpus"),
        (("--server-cpus", "9999"), "9999"),
    ],
)
def test_a_usage_error_is_one_line(arguments: tuple[str, ...], word: str) -> None:
    done = doctor(*arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_race_warns_of_each_serious_finding_in_one_line(tmp_path: Path) -> None:
    machine = machines.build(machines.laptop(), tmp_path)
    found = serious(RaceSetup((0,), (1,), "netns"), machine)
    assert list(found) == ["smt", "governor", "power", "clock"]
    told = doctor_warnings(found)
    assert len(told) == len(found)
    assert all("regatta doctor" in line and "\n" not in line for line in told)
