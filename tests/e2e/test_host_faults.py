"""Faults of hosts in the second trial of a race: the reason names the host, the race goes on or can
be resumed, finished trials stay as they are, and nothing is left behind."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import regatta as package
from regatta.measure.network.veth import run_tool
from tests.commands import run
from tests.control_groups import abandoned_groups, no_group_is_left
from tests.e2e import racing
from tests.e2e.racing import ROOT, needs_programs, needs_two_cpus, regatta, study
from tests.ledgers import rows
from tests.namespaces import Network, needs_hosts, network
from tests.processes import commands, cpu_seconds, network_namespaces, pids_inside
from tests.waiting import wait_until

pytestmark = [needs_programs, needs_hosts, needs_two_cpus]
NAMES = ("alpha", "beta")
STUDY = study(
    """
[placement]
kind = "hosts"
server = "ssh://alpha"
clients = ["ssh://beta"]
[[cells]]
designs = ["select"]
connections = [4]
work = "snapshot"
load = "closed"
duration_s = 3
""",
    blocks=3,
)
FULL = "the disk of the client's host is full"
DISK = "32m"
"""Far more than the samples of a trial, on any machine."""
LIFE_S = 180.0
GONE_S = 15.0
AT_WORK_S = 0.03
"""CPU time of a client that is in its load."""


@dataclass
class Race:
    """A race in its second trial, and the network of its hosts."""

    hosts: Network
    folder: Path
    lab: subprocess.Popen[bytes]

    @property
    def out(self) -> Path:
        return self.folder / "race"

    def trials(self, columns: str = "*", where: str = "1") -> list[tuple[Any, ...]]:
        if not (self.out / "ledger.sqlite").exists():
            return []
        return rows(self.out, f"SELECT {columns} FROM trial WHERE {where} ORDER BY id")

    def finished(self) -> list[tuple[Any, ...]]:
        """Finished trials with all they hold, and their counters."""
        counters = "SELECT counter.* FROM counter JOIN trial ON trial.id = trial_id"
        return [
            *self.trials(where="status = 'ok'"),
            *rows(self.out, f"{counters} WHERE status = 'ok' ORDER BY 1, 2, 3, 4"),
        ]

    def resume(self) -> subprocess.CompletedProcess[str]:
        command = (*self.hosts.enter, *regatta("race", "--resume", "race"))
        return run(*command, cwd=self.folder, env=self.hosts.environment(), timeout=LIFE_S)

    def processes(self) -> list[str]:
        """All processes of the race, on the hosts and at the lab."""
        lab = pids_inside(network_namespaces([self.hosts.lab.pid]))
        at_lab = commands([pid for pid in lab if pid != self.hosts.lab.pid])
        return [*at_lab, *(found for name in NAMES for found in self.hosts.running(name))]

    def running(self, name: str, program: str) -> list[int]:
        """The program's processes on a host."""
        there = pids_inside(network_namespaces([self.hosts.hosts[name].pid]))
        return [pid for pid in there if f"/{program}\0" in "".join(commands([pid]))]

    def files(self) -> list[str]:
        return [file for name in NAMES for file in self.hosts.files(name)]


@pytest.fixture
def race(fault: str, tmp_path: Path) -> Iterator[Race]:
    """A race that is in the load of its second trial."""
    (tmp_path / "study.toml").write_text(STUDY)
    disk = DISK if fault == FULL else ""
    with network(tmp_path / "network", *NAMES, disk=disk) as hosts:
        command = ("race", "study.toml", "--out", "race")
        lab = racing.begin(tmp_path, *command, prefix=hosts.enter, env=hosts.environment())
        made = Race(hosts, tmp_path, lab)

        def in_second() -> bool:
            assert lab.poll() is None, lab.communicate()
            if len(made.trials()) != 1:
                return False
            clients = made.running("beta", "regatta-client")
            return any(cpu_seconds(client) > AT_WORK_S for client in clients)

        try:
            wait_until(in_second, "the second trial does not start", LIFE_S)
            yield made
        finally:
            lab.kill()
            lab.communicate()


def ended(race: Race) -> str:
    """Waits for the lab, whose race has failed; returns its complaint."""
    _, complaint = race.lab.communicate(timeout=LIFE_S)
    assert race.lab.returncode == 1
    return " ".join(complaint.decode().split())


def power_cut(race: Race, name: str) -> None:
    race.hosts.kill(name)
    complaint = ended(race)
    assert f"the host {name} was lost" in complaint
    assert "--resume" in complaint
    race.hosts.add(name)
    race.resume()


def cable_pulled(race: Race, name: str) -> None:
    """Without any notice to either end."""
    race.hosts.ip(f"link set to-{name} down")
    complaint = ended(race)
    assert f"the host {name} was lost" in complaint
    wait_until(lambda: not race.processes(), lambda: str(race.processes()), GONE_S)
    race.hosts.ip(f"link set to-{name} up")
    race.resume()


def program_killed(race: Race, name: str) -> None:
    program = "regatta-server" if name == "alpha" else "regatta-client"
    (killed,) = race.running(name, program)
    os.kill(killed, signal.SIGKILL)
    ended(race)


def disk_full(race: Race, name: str) -> None:
    """The disk is full until the trial has failed."""
    ballast = race.hosts.tmp(name) / "ballast"
    run(*race.hosts.mounts(name), "dd", "if=/dev/zero", f"of={ballast}", "bs=4k")
    wait_until(lambda: len(race.trials()) == 2, "the trial does not end", LIFE_S)
    run_tool([*race.hosts.mounts(name), "rm", str(ballast)])
    ended(race)


def other_version(race: Race, name: str) -> None:
    """The host is restarted, with another version of Regatta."""
    race.hosts.kill(name)
    ended(race)
    race.hosts.add(name)
    ours, other = ROOT / "regatta" / "__init__.py", race.folder / "other.py"
    other.write_text(ours.read_text().replace(package.__version__, "9.9.9"))
    run_tool([*race.hosts.mounts(name), "mount", "--bind", str(other), str(ours)])
    refused = race.resume()
    assert refused.returncode == 1
    assert f"{name} has Regatta 9.9.9 and this machine {package.__version__}" in refused.stderr
    wait_until(lambda: not race.processes(), lambda: str(race.processes()), GONE_S)
    run_tool([*race.hosts.mounts(name), "umount", str(ours)])
    race.resume()


def lab_killed(race: Race, _name: str) -> None:
    """The scheduler is in the lab's process."""
    race.lab.kill()
    race.lab.wait()
    wait_until(lambda: not race.processes(), lambda: str(race.processes()), GONE_S)
    wait_until(lambda: not race.files(), lambda: str(race.files()), GONE_S)
    assert race.resume().returncode == 0


FAULTS: dict[str, tuple[Callable[[Race, str], object], str]] = {
    "the client's host loses power": (power_cut, "beta"),
    "the client's host loses its network": (cable_pulled, "beta"),
    "the lab and its scheduler are killed": (lab_killed, ""),
    "the server's host loses power": (power_cut, "alpha"),
    "the client is killed": (program_killed, "beta"),
    "the server is killed": (program_killed, "alpha"),
    FULL: (disk_full, "beta"),
    "the server's host returns with another version": (other_version, "alpha"),
}
"""What to do, and the host that the reason must name; empty: no trial is recorded as failed."""
SHORT = 3
"""How many of them `make test` runs."""


@pytest.mark.parametrize(
    "fault",
    [
        name if at < SHORT else pytest.param(name, marks=pytest.mark.long)
        for at, name in enumerate(FAULTS)
    ],
)
def test_a_fault_costs_one_trial_and_names_its_host(fault: str, race: Race) -> None:
    groups = set(abandoned_groups())
    inject, named = FAULTS[fault]
    before = race.finished()
    inject(race, named)
    found = race.trials("block, status, reason")
    wait_until(lambda: not race.processes(), lambda: str(race.processes()), GONE_S)
    no_group_is_left(groups)
    wait_until(lambda: not race.files(), lambda: str(race.files()), GONE_S)
    assert not (race.out / ".trial").exists()
    assert [row for row in race.finished() if row in before] == before
    assert sorted(block for block, _, _ in found) == [1, 2, 3], found
    failed = [reason for _, status, reason in found if status != "ok"]
    assert len(failed) == (1 if named else 0), found
    assert all(named in reason for reason in failed), failed
