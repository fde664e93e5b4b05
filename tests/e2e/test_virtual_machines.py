"""A race over two virtual machines: real kernels, their clocks, and one that loses power.

In software emulation, so this shows what works, not how fast it is.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import run, run_well
from tests.e2e import racing
from tests.e2e.racing import environment, needs_programs, regatta, study
from tests.guest_image import FOLDER, needs_virtual_machines
from tests.ledgers import rows
from tests.processes import is_gone
from tests.virtual_machines import Guests, guests
from tests.waiting import wait_until

pytestmark = [pytest.mark.long, needs_programs, needs_virtual_machines]
AHEAD_S = 3600
BOOT_DRIFT_MS = 60_000
"""How far a clock may be off after an emulated start."""
HOSTS = f"""
[placement]
kind = "hosts"
server = "ssh://root@alpha{FOLDER}"
clients = ["ssh://root@beta{FOLDER}"]
"""
DESIGNS = ["select", "epoll", "thread-per-client"]
CELLS = f"""
[[cells]]
designs = {json.dumps(DESIGNS)}
connections = [4]
work = "snapshot"
requests = 40
"""
LONG = """
[[cells]]
designs = ["select"]
connections = [4]
work = "snapshot"
load = "closed"
duration_s = 5
"""
CHECK_S = 900.0
RACE_S = 1800.0
GONE_S = 120.0
# A client that has a load, not one that is asked for its version.
AT_WORK = """
for _ in $(seq 6000); do
    for comm in /proc/[0-9]*/comm; do
        read -r name <"$comm" && [ "$name" = regatta-client ] &&
            grep -q gate-fd "${comm%comm}cmdline" && exit 0
    done 2>/dev/null
    sleep 0.1
done
exit 1
"""
# The patterns do not match the command line that holds them.
LEFT = """
ls -d /tmp/regatta-* 2>/dev/null
find /sys/fs/cgroup -name "regatta-side-*"
for process in /proc/[0-9]*; do tr '\\0' ' ' <"$process/cmdline"; echo; done 2>/dev/null |
    grep -E 'regatta-[s]erver|regatta-[c]lient|[h]osts.worker'
true
"""


@pytest.fixture(scope="module")
def machines() -> Iterator[Guests]:
    with guests(alpha=0, beta=AHEAD_S) as made:
        for name in made.ports:
            made.wait_for(name)
        yield made


def lab(machines: Guests) -> dict[str, str]:
    return {**environment(), "PATH": machines.path()}


def placed(machines: Guests) -> str:
    return f'{HOSTS}address = "{machines.address("alpha")}"\n'


def left(machines: Guests, name: str) -> str:
    """Files, control groups and processes of a race."""
    done = machines.run(name, LEFT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hosts_check_describes_two_kernels_and_their_clocks(
    machines: Guests, tmp_path: Path
) -> None:
    (tmp_path / "study.toml").write_text(study(placed(machines) + CELLS))
    command = regatta("doctor", "study.toml", "--json")
    printed = run_well(*command, cwd=tmp_path, env=lab(machines), timeout=CHECK_S)
    print(printed)
    report = json.loads(printed)
    assert report["serious"] == 0
    found = {one["name"]: one for one in report["findings"]}
    kernels = [one["says"] for one in report["findings"] if one["name"] == "kernel and CPU"]
    there = machines.run("alpha", "uname -r").stdout.strip()
    assert len(kernels) == 2
    assert all(f"Linux {there}" in says for says in kernels)
    assert there != os.uname().release
    clocks = [one for one in report["findings"] if one["name"] == "clock"]
    offsets_ms = [int(one["says"].split()[1]) for one in clocks]
    assert abs(offsets_ms[0]) < BOOT_DRIFT_MS
    assert abs(offsets_ms[1] - AHEAD_S * 1000) < BOOT_DRIFT_MS
    assert clocks[1]["level"] == "minor"
    assert found["devices"]["says"].count("eth1 (virtio_net), MTU 1500") == 2


def test_an_address_that_each_machine_has_is_refused(machines: Guests, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(HOSTS + CELLS))
    command = regatta("race", "study.toml", "--out", "race")
    done = run(*command, cwd=tmp_path, env=lab(machines), timeout=CHECK_S)
    assert done.returncode == 1
    assert "beta has the address 10.0.2.15 too" in done.stderr
    assert "set `address` in [placement]" in done.stderr
    assert done.stderr.count("\n") == 1


def resumed(machines: Guests, folder: Path, trials: int) -> Path:
    """Resumes the race until it has all its trials, and returns its folder.

    Emulation on a busy machine stops a guest for seconds, which the lab takes for a lost host.
    """
    out = folder / "race"
    for _ in range(trials):
        if len(rows(out, "SELECT id FROM trial")) == trials:
            break
        command = regatta("race", "--resume", "race")
        print(run(*command, cwd=folder, env=lab(machines), timeout=RACE_S))
    assert len(rows(out, "SELECT id FROM trial")) == trials
    return out


def test_three_designs_are_raced(machines: Guests, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(placed(machines) + CELLS, 2, counted_blocks=1))
    command = regatta("race", "study.toml", "--out", "race")
    print(run(*command, cwd=tmp_path, env=lab(machines), timeout=RACE_S))
    out = resumed(machines, tmp_path, 3 * len(DESIGNS))
    found = rows(out, "SELECT status, reason, COUNT(*) FROM trial GROUP BY 1, 2")
    print(found)
    assert all(status == "ok" or "was lost" in reason for status, reason, _ in found), found
    raced = (
        "SELECT DISTINCT contender FROM trial JOIN cell ON cell.id = cell_id WHERE status = 'ok'"
    )
    assert sorted(rows(out, raced)) == sorted((design,) for design in DESIGNS)
    known = {key: json.loads(value) for key, value in rows(out, "SELECT * FROM environment")}
    assert known["placement"]["host_names"] == {"server": "alpha", "clients": ["beta"]}
    assert known["placement"]["control_groups"]
    there = machines.run("alpha", "uname -r").stdout.strip()
    assert known["kernel"] == known["client_hosts"]["beta"]["kernel"] == there
    counted = "SELECT DISTINCT side FROM counter WHERE origin = 'perf' AND state = 'counted'"
    assert sorted(rows(out, counted)) == [("client",), ("server",)]
    assert left(machines, "alpha") + left(machines, "beta") == ""


def test_a_machine_that_loses_power_fails_the_trial_and_the_race_is_resumed(
    machines: Guests, tmp_path: Path
) -> None:
    (tmp_path / "study.toml").write_text(study(placed(machines) + LONG, 3))
    race = racing.begin(tmp_path, "race", "study.toml", "--out", "race", env=lab(machines))
    at_work = machines.begin("beta", AT_WORK)
    try:
        wait_until(
            lambda: at_work.poll() is not None or race.poll() is not None,
            "no client starts",
            RACE_S,
        )
        assert race.poll() is None, race.communicate()
        assert at_work.returncode == 0, at_work.communicate()
        machines.kill("beta")
        _, complaint = race.communicate(timeout=CHECK_S)
    finally:
        for one in (race, at_work):
            one.kill()
            one.communicate()
    assert race.returncode == 1
    assert "the host beta was lost" in complaint.decode()
    assert "--resume" in complaint.decode()
    found = rows(tmp_path / "race", "SELECT status, reason FROM trial")
    assert [status for status, _ in found] == ["failed"]
    assert "the host beta was lost" in found[0][1]
    wait_until(lambda: left(machines, "alpha") == "", lambda: left(machines, "alpha"), GONE_S)
    machines.start("beta")
    machines.wait_for("beta")
    resumed(machines, tmp_path, 3)
    found = rows(tmp_path / "race", "SELECT status, reason FROM trial ORDER BY id")
    print(found)
    assert "ok" in [status for status, _ in found]
    assert all(status == "ok" or "was lost" in reason for status, reason in found), found
    assert left(machines, "alpha") + left(machines, "beta") == ""


STARTER = """
import signal, sys
from pathlib import Path
from tests import virtual_machines
from tests.guest_image import Image
folder = Path(sys.argv[1])
machines = virtual_machines.Guests(
    folder, Image(Path(sys.argv[2])), Path(sys.argv[3]), {"alpha": int(sys.argv[4])}, {"alpha": 0}
)
machines.start("alpha")
print(machines.running["alpha"].pid, flush=True)
signal.pause()
"""


def test_machines_end_with_a_test_that_is_killed(machines: Guests, tmp_path: Path) -> None:
    given = [tmp_path, machines.image.folder, machines.clone, "0"]
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, *map(str, given)],
        cwd=racing.ROOT,
        env=environment(tmp_path.name),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert starter.stdout
        machine = int(starter.stdout.readline())
        exe = Path(f"/proc/{machine}/exe")
        wait_until(lambda: exe.readlink().name == "qemu-system-x86_64", "qemu does not start")
    finally:
        starter.kill()
        starter.communicate()
    wait_until(lambda: is_gone(machine), "qemu goes on")
