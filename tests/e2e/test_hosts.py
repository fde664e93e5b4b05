"""Races over two hosts: both are told of, and whatever becomes of one, nothing is left behind."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from regatta.ledger.read import read
from regatta.ledger.samples import all_samples
from regatta.ledger.schema import FILE_NAME
from tests.commands import run, run_well
from tests.e2e.racing import environment, needs_programs, regatta, study
from tests.ledgers import rows
from tests.namespaces import Network, needs_hosts, network
from tests.waiting import wait_until

pytestmark = [
    needs_programs,
    needs_hosts,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this machine has one CPU only"),
]
HOSTS = """
[placement]
kind = "hosts"
server = "ssh://alpha"
clients = ["ssh://beta"]
"""
TWO = f"""{HOSTS}
[[cells]]
designs = ["select", "thread-per-client"]
connections = [10]
work = "snapshot"
requests = 40
"""
LONG = f"""{HOSTS}
[[cells]]
designs = ["select"]
connections = [4]
work = "snapshot"
load = "closed"
duration_s = 4
"""
LIFE_S = 180.0
GONE_S = 15.0
"""It is gone within 5 s; a busy machine needs more until it is seen."""


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Network]:
    with network(tmp_path / "network", "alpha", "beta") as made:
        yield made


def lab(hosts: Network) -> dict[str, str]:
    return {**environment(), "PATH": hosts.path()}


def left() -> set[Path]:
    """What workers have for the files of trials."""
    return set(Path(tempfile.gettempdir()).glob("regatta-host-*"))


def test_two_designs_are_raced_over_two_hosts_and_both_are_told_of(
    hosts: Network, tmp_path: Path
) -> None:
    (tmp_path / "study.toml").write_text(study(TWO, counted_blocks=1, slices=2))
    before, out = left(), tmp_path / "race"
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
    wait_until(lambda: hosts.running("alpha") + hosts.running("beta") == [], "something runs on")
    assert left() <= before


SEVERAL = f"""{HOSTS.replace('"ssh://beta"', '"ssh://beta", "ssh://gamma"')}
[[cells]]
designs = ["epoll"]
connections = [5]
work = "snapshot"
load = "open"
rate = 600
duration_s = 0.5
"""


def test_two_clients_with_clocks_of_their_own_are_one_load(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(SEVERAL, counted_blocks=1, slices=2))
    out = tmp_path / "race"
    with network(tmp_path / "network", "alpha", "beta", "gamma") as hosts:
        command = regatta("race", "study.toml", "--out", str(out))
        run_well(*hosts.enter, *command, cwd=tmp_path, env=lab(hosts), timeout=LIFE_S)
    trials = read(out / FILE_NAME).trials
    assert [trial.status for trial in trials if not trial.superseded] == ["ok", "ok"]
    for trial in trials:
        assert [one.host for one in trial.clients] == ["beta", "gamma"]
        assert [one.connections for one in trial.clients] == [3, 2]
        assert sum(one.requests for one in trial.clients) + trial.unstarted == 300
        # Their clocks are 5,000 s apart; what both call the start is much less so.
        assert 0 < max(one.clock_bound_ns for one in trial.clients) < 0.1e9
        assert trial.start_skew_ns < 1e9
        starts = np.sort(all_samples(trial.samples)["start_ns"])
        assert starts[-1] - starts[0] < 60e9
        assert trial.window_ns is not None
        assert trial.window_ns < 60e9
    report = (out / "report.html").read_text()
    assert "hosts (server alpha, clients beta, gamma)" in report
    assert "Several clients shared each load" in report


LOADED = """
import sys
from regatta.cli.main import main
try:
    main()
finally:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def test_a_race_here_loads_no_engine(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(TWO.replace(HOSTS, "")))
    command = (sys.executable, "-c", LOADED, "race", "study.toml", "--out", "race")
    done = run(*command, cwd=tmp_path, env=environment(), timeout=LIFE_S)
    loaded = done.stderr.split()
    assert "regatta.trial.side" in loaded
    assert not {"dask", "distributed"} & set(loaded)


def test_the_check_says_of_both_hosts_and_the_path_what_they_are(
    hosts: Network, tmp_path: Path
) -> None:
    (tmp_path / "study.toml").write_text(study(TWO))
    command = (*hosts.enter, *regatta("hosts", "check", "study.toml"))
    printed = run_well(*command, "--json", cwd=tmp_path, env=lab(hosts), timeout=LIFE_S)
    told = json.loads(printed)
    levels = {finding["name"]: finding["level"] for finding in told["findings"]}
    assert levels.keys() == {
        *("reached", "programs", "perf", "control groups", "kernel and CPU", "clock"),
        *("round trip", "bandwidth", "devices"),
    }
    assert told["serious"] == 0
    both = [finding["says"] for finding in told["findings"] if finding["name"] == "programs"]
    assert [says.partition(":")[0] for says in both] == ["alpha", "beta"]
    assert told["findings"][-1]["says"].count("eth0 (veth), MTU 1") == 2
    hosts.kill("beta")
    done = run(*command, cwd=tmp_path, env=lab(hosts), timeout=LIFE_S)
    assert done.returncode == 1
    assert "client: beta: " in done.stdout
    assert "log in without a question" in " ".join(done.stdout.split())
    assert hosts.running("alpha") == []


def begin(hosts: Network, folder: Path) -> subprocess.Popen[bytes]:
    """A race, once a client of it is at work."""
    (folder / "study.toml").write_text(study(LONG, 3))
    started = subprocess.Popen(
        [*hosts.enter, *regatta("race", "study.toml", "--out", str(folder / "race"))],
        cwd=folder,
        env=lab(hosts),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )

    def at_work() -> bool:
        assert started.poll() is None, started.communicate()
        return "--gate-fd" in "".join(hosts.running("beta"))

    wait_until(at_work, "no client begins", LIFE_S)
    return started


@pytest.mark.parametrize("lost", ["alpha", "beta"])
def test_a_host_that_is_lost_fails_the_trial_and_the_race_goes_on_when_it_is_back(
    lost: str, hosts: Network, tmp_path: Path
) -> None:
    before = left()
    racing = begin(hosts, tmp_path)
    hosts.kill(lost)
    _, complaint = racing.communicate(timeout=LIFE_S)
    assert racing.returncode == 1
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
    assert left() <= before, "a host that comes back takes away what it had"


def kill_lab(_: Network, racing: subprocess.Popen[bytes]) -> None:
    racing.send_signal(signal.SIGKILL)


def pull_cable(hosts: Network, _: subprocess.Popen[bytes]) -> None:
    """Nobody is told that nothing comes any more."""
    hosts.ip("link set to-beta down")


@pytest.mark.parametrize("cut", [kill_lab, pull_cable])
def test_a_host_that_hears_nothing_ends_what_was_started(
    cut: Callable[[Network, subprocess.Popen[bytes]], None], hosts: Network, tmp_path: Path
) -> None:
    before = left()
    racing = begin(hosts, tmp_path)
    cut(hosts, racing)
    wait_until(lambda: hosts.running("beta") == [], lambda: str(hosts.running("beta")), GONE_S)
    racing.kill()
    racing.communicate()
    wait_until(lambda: hosts.running("alpha") == [], "something runs on", GONE_S)
    wait_until(lambda: left() <= before, "files are left", GONE_S)
