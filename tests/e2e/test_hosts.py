"""Races over two hosts: recording of both, and the doctor. Lost hosts: test_host_faults.py."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from regatta.record.read import read
from regatta.record.samples import all_samples
from regatta.record.schema import FILE_NAME
from tests.commands import assert_refused, run, run_well
from tests.e2e.racing import (
    TWO_DESIGNS,
    environment,
    needs_programs,
    needs_two_cpus,
    race,
    regatta,
    study,
)
from tests.ledgers import rows
from tests.namespaces import AWAY_S, Network, needs_clocks, needs_hosts, network
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


def test_two_designs_are_raced_over_two_hosts_and_both_are_recorded(
    hosts: Network, tmp_path: Path
) -> None:
    text = study(HOSTS + TWO_DESIGNS, counted_blocks=1, slices=2)
    out = race(tmp_path, text, prefix=hosts.enter, env=hosts.environment())
    assert rows(out, "SELECT DISTINCT status, reason FROM trial") == [("ok", None)]
    assert rows(out, "SELECT DISTINCT placement FROM cell") == [("hosts",)]
    known = read(out / FILE_NAME).environment
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
    assert not list(hosts.folder.glob("tmp/*/regatta-host-*")), "files of trials on the hosts"


SHARED = """
[[cells]]
designs = ["epoll"]
connections = [5]
work = "snapshot"
load = "open"
rate = 600
duration_s = 0.5
"""
NEAR_NS, BUSY_NS = 50e6, 5e9
"""How well clocks are known, and how far apart clients begin: the race's own limit is 1 ms, but the
last attempt on a busy machine may miss that. Far less than the 5,000 s between the clocks."""


@needs_clocks
def test_two_clients_with_different_clocks_share_one_load(tmp_path: Path) -> None:
    placed = HOSTS.replace('"ssh://beta"', '"ssh://beta", "ssh://gamma"')
    with network(tmp_path / "network", "alpha", "beta", "gamma") as hosts:
        how = {"prefix": hosts.enter, "env": hosts.environment()}
        out = race(tmp_path, study(placed + SHARED, counted_blocks=1, slices=2), **how)
    trials = read(out / FILE_NAME).trials
    assert [trial.status for trial in trials if not trial.superseded] == ["ok", "ok"]
    for trial in trials:
        parts = trial.client["clients"]
        assert [part["host"] for part in parts] == ["beta", "gamma"]
        assert [part["connections"] for part in parts] == [3, 2]
        assert sum(part["requests"] for part in parts) + trial.unstarted == 300
        # Their clocks are 5,000 s apart, the common start is not.
        assert 0 < max(part["clock_bound_ns"] for part in parts) < NEAR_NS
        assert trial.start_skew_ns < BUSY_NS
        starts = all_samples(trial.samples)["start_ns"]
        assert starts.max() - starts.min() < 60e9
        assert trial.window_ns < 60e9
        ahead = [part["clock_offset_ns"] for part in parts]
        assert ahead == [pytest.approx(away * AWAY_S * 1e9, abs=NEAR_NS) for away in (1, 2)]
    assert "clients shared each load, and used at most" in (out / "report.html").read_text()
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
    command = (*hosts.enter, *regatta("doctor", "study.toml"))
    printed = run_well(*command, "--json", cwd=tmp_path, env=hosts.environment(), timeout=LIFE_S)
    report = json.loads(printed)
    levels = {finding["name"]: finding["level"] for finding in report["findings"]}
    assert levels.keys() == {
        *("reached", "programs", "perf", "control groups", "kernel and CPU", "ports"),
        *("clock", "round trip", "devices"),
    }
    assert report["serious"] == 0
    both = [finding["says"] for finding in report["findings"] if finding["name"] == "programs"]
    assert [says.partition(":")[0] for says in both] == ["alpha", "beta"]
    assert report["findings"][-1]["says"].count("eth0 (veth), MTU 1500, ") == 2
    hosts.kill("beta")
    done = run(*command, cwd=tmp_path, env=hosts.environment(), timeout=LIFE_S)
    assert done.returncode == 1
    assert "client: beta: " in done.stdout
    assert hosts.running("alpha") == []


def test_an_address_that_both_hosts_have_is_refused(hosts: Network, tmp_path: Path) -> None:
    """A client would ask itself."""
    for name in ("alpha", "beta"):
        hosts.ip("address add 10.9.9.9/32 dev lo", hosts.within(name))
    (tmp_path / "study.toml").write_text(study(f'{HOSTS}address = "10.9.9.9"\n{TWO_DESIGNS}'))
    command = (*hosts.enter, *regatta("race", "study.toml"))
    done = run(*command, cwd=tmp_path, env=hosts.environment(), timeout=LIFE_S)
    assert_refused(done, 1, "regatta")
    assert "beta has the address 10.9.9.9 too" in done.stderr
