"""Races over two hosts: recording of both, lost hosts, cleaning up."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.commands import run, run_well
from tests.e2e import racing
from tests.e2e.racing import (
    FOUR_SECONDS,
    TWO_DESIGNS,
    environment,
    needs_programs,
    needs_two_cpus,
    regatta,
    study,
)
from tests.e2e.shared_loads import assert_shared, shared_load
from tests.ledgers import rows
from tests.namespaces import Network, needs_clocks, needs_hosts, network
from tests.waiting import wait_until

pytestmark = [needs_programs, needs_hosts, needs_two_cpus]
HOSTS = """
[placement]
kind = "hosts"
server = "ssh://alpha"
clients = ["ssh://beta"]
"""
LIFE_S = 180.0
GONE_S = 15.0
"""Processes end within 5 s, more on a busy machine."""


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Network]:
    with network(tmp_path / "network", "alpha", "beta") as made:
        yield made


def lab(hosts: Network) -> dict[str, str]:
    return {**environment(), "PATH": hosts.path()}


def left(hosts: Network) -> list[Path]:
    """Folders for the files of trials on the hosts."""
    return list(hosts.folder.glob("tmp/*/regatta-host-*"))


def test_two_designs_are_raced_over_two_hosts_and_both_are_recorded(
    hosts: Network, tmp_path: Path
) -> None:
    (tmp_path / "study.toml").write_text(study(HOSTS + TWO_DESIGNS, counted_blocks=1, slices=2))
    out = tmp_path / "race"
    command = regatta("race", "study.toml", "--out", str(out))
    run_well(*hosts.enter, *command, cwd=tmp_path, env=lab(hosts), timeout=LIFE_S)
    assert rows(out, "SELECT DISTINCT status, reason FROM trial") == [("ok", None)]
    assert rows(out, "SELECT DISTINCT placement FROM cell") == [("hosts",)]
    known = {key: json.loads(value) for key, value in rows(out, "SELECT * FROM environment")}
    assert known["placement"]["host_names"] == {"server": "alpha", "clients": ["beta"]}
    assert known["placement"]["server_address"] not in known["placement"]["client_addresses"]
    assert known["client_hosts"]["beta"]["kernel"] == known["kernel"], "namespaces of one machine"
    for conditions in rows(out, "SELECT conditions FROM trial"):
        assert json.loads(conditions[0]).keys() >= {"canary_ns", "lab_percent", "rest_ms"}
    sides = "SELECT DISTINCT side FROM counter WHERE origin = 'cpus' AND state = 'counted'"
    assert sorted(rows(out, sides)) == [("client",), ("server",)]
    report = (out / "report.html").read_text()
    assert "hosts (server alpha, client beta)" in report
    assert "the client&#39;s host" in report or "the client's host" in report
    wait_until(lambda: hosts.running("alpha") + hosts.running("beta") == [], "a process is left")
    assert not left(hosts)


@needs_clocks
def test_two_clients_with_different_clocks_share_one_load(tmp_path: Path) -> None:
    placed = HOSTS.replace('"ssh://beta"', '"ssh://beta", "ssh://gamma"')
    (tmp_path / "study.toml").write_text(shared_load(placed))
    out = tmp_path / "race"
    with network(tmp_path / "network", "alpha", "beta", "gamma") as hosts:
        command = regatta("race", "study.toml", "--out", str(out))
        run_well(*hosts.enter, *command, cwd=tmp_path, env=lab(hosts), timeout=LIFE_S)
    assert_shared(out, "beta", "gamma")
    assert "hosts (server alpha, clients beta, gamma)" in (out / "report.html").read_text()


LOADED = """
import sys
from regatta.verbs.main import main
try:
    main()
finally:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def test_a_local_race_does_not_load_dask(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(TWO_DESIGNS))
    command = (sys.executable, "-c", LOADED, "race", "study.toml", "--out", "race")
    done = run(*command, cwd=tmp_path, env=environment(), timeout=LIFE_S)
    loaded = done.stderr.split()
    assert "regatta.measure.trial.side" in loaded
    assert not {"dask", "distributed"} & set(loaded)


def test_hosts_check_describes_both_hosts_and_the_path(hosts: Network, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(HOSTS + TWO_DESIGNS))
    hosts.ip("link set eth0 mtu 1400", hosts.within("beta"))
    command = (*hosts.enter, *regatta("doctor", "study.toml"))
    printed = run_well(*command, "--json", cwd=tmp_path, env=lab(hosts), timeout=LIFE_S)
    report = json.loads(printed)
    levels = {finding["name"]: finding["level"] for finding in report["findings"]}
    assert levels.keys() == {
        *("reached", "programs", "perf", "control groups", "kernel and CPU", "ports"),
        *("clock", "round trip", "bandwidth", "devices"),
    }
    assert report["serious"] == 0
    both = [finding["says"] for finding in report["findings"] if finding["name"] == "programs"]
    assert [says.partition(":")[0] for says in both] == ["alpha", "beta"]
    devices = report["findings"][-1]
    assert devices["says"].startswith("server: eth0 (veth), MTU 1500, GRO off, TSO on, GSO on; ")
    assert "client: eth0 (veth), MTU 1400" in devices["says"]
    assert (devices["level"], devices["advice"]) == ("minor", "Give both devices the same MTU.")
    hosts.kill("beta")
    done = run(*command, cwd=tmp_path, env=lab(hosts), timeout=LIFE_S)
    assert done.returncode == 1
    assert "client: beta: " in done.stdout
    assert "log in without a prompt" in " ".join(done.stdout.split())
    assert hosts.running("alpha") == []


def begin(hosts: Network, folder: Path) -> subprocess.Popen[bytes]:
    """Starts a race and waits until a client is at work."""
    (folder / "study.toml").write_text(study(HOSTS + FOUR_SECONDS, 3))
    command = ("race", "study.toml", "--out", "race")
    started = racing.begin(folder, *command, prefix=hosts.enter, env=lab(hosts))

    def at_work() -> bool:
        assert started.poll() is None, started.communicate()
        return "--gate-fd" in "".join(hosts.running("beta"))

    wait_until(at_work, "no client starts", LIFE_S)
    return started


@pytest.mark.parametrize("lost", [pytest.param("alpha", marks=pytest.mark.long), "beta"])
def test_a_lost_host_fails_the_trial_and_the_race_can_be_resumed(
    lost: str, hosts: Network, tmp_path: Path
) -> None:
    race = begin(hosts, tmp_path)
    hosts.kill(lost)
    _, complaint = race.communicate(timeout=LIFE_S)
    assert race.returncode == 1
    assert f"the host {lost} was lost" in complaint.decode()
    assert "--resume" in complaint.decode()
    other = {"alpha": "beta", "beta": "alpha"}[lost]
    wait_until(lambda: hosts.running(other) == [], lambda: str(hosts.running(other)), GONE_S)
    found = rows(tmp_path / "race", "SELECT status, reason FROM trial")
    assert [status for status, _ in found] == ["failed"]
    assert f"the host {lost} was lost" in found[0][1]
    hosts.add(lost)
    command = regatta("race", "--resume", "race")
    run(*hosts.enter, *command, cwd=tmp_path, env=lab(hosts), timeout=LIFE_S)
    found = rows(tmp_path / "race", "SELECT status, reason FROM trial ORDER BY id")
    assert [status for status, _ in found] == ["failed", "ok", "ok"], found
    assert not left(hosts), "a restarted host does not remove its files"


def kill_lab(_: Network, race: subprocess.Popen[bytes]) -> None:
    race.send_signal(signal.SIGKILL)


def pull_cable(hosts: Network, _: subprocess.Popen[bytes]) -> None:
    """Without any notice to either end."""
    hosts.ip("link set to-beta down")


@pytest.mark.parametrize("cut", [kill_lab, pull_cable])
def test_a_host_without_contact_ends_its_processes(
    cut: Callable[[Network, subprocess.Popen[bytes]], None], hosts: Network, tmp_path: Path
) -> None:
    race = begin(hosts, tmp_path)
    cut(hosts, race)
    wait_until(lambda: hosts.running("beta") == [], lambda: str(hosts.running("beta")), GONE_S)
    race.kill()
    race.communicate()
    wait_until(lambda: hosts.running("alpha") == [], "a process is left", GONE_S)
    wait_until(lambda: not left(hosts), "files are left", GONE_S)
