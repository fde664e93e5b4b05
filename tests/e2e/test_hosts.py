"""Races over two hosts: recording of both, and the doctor. Lost hosts: test_host_faults.py."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import run, run_well
from tests.e2e.racing import (
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
        *("clock", "round trip", "devices"),
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


def test_an_address_that_both_hosts_have_is_refused(hosts: Network, tmp_path: Path) -> None:
    """A client would ask itself."""
    for name in ("alpha", "beta"):
        hosts.ip("address add 10.9.9.9/32 dev lo", hosts.within(name))
    (tmp_path / "study.toml").write_text(study(f'{HOSTS}address = "10.9.9.9"\n{TWO_DESIGNS}'))
    command = (*hosts.enter, *regatta("race", "study.toml"))
    done = run(*command, cwd=tmp_path, env=lab(hosts), timeout=LIFE_S)
    assert done.returncode == 1
    assert "beta has the address 10.9.9.9 too" in done.stderr
    assert done.stderr.count("\n") == 1
