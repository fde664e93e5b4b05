"""A fleet: the same study on several machines, each by itself; one is lost, and it goes on."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from distributed import LocalCluster

from regatta.fleet.there import home
from tests.commands import run, run_well
from tests.e2e.racing import environment, needs_programs, regatta, study
from tests.namespaces import needs_hosts, network
from tests.waiting import wait_until

pytestmark = [
    needs_programs,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="this machine has one CPU only"),
]
SMALL = """
[placement]
kind = "loopback"
[[cells]]
designs = ["select", "epoll"]
connections = [4]
work = "snapshot"
requests = 40
"""
LIFE_S = 240.0


def left() -> set[Path]:
    """What machines keep until the fleet has it; they have the files of this one."""
    return set(home("").glob("*"))


@needs_hosts
def test_a_fleet_is_raced_a_machine_is_lost_and_it_goes_on(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(SMALL, blocks=6))
    (tmp_path / "hosts.txt").write_text("ssh://beta # the second\n\n")
    before_all = left()
    with network(tmp_path / "network", "alpha", "beta") as hosts:
        lab = {**environment(), "PATH": hosts.path()}
        hosts.kill("beta")
        command = ("fleet", "study.toml", "--host", "ssh://alpha", "--hosts", "hosts.txt")
        done = run(
            *hosts.enter,
            *regatta(*command, "--out", "fleet", "--json"),
            cwd=tmp_path,
            env=lab,
            timeout=LIFE_S,
        )
        assert done.returncode == 1
        assert "--resume" in done.stderr
        told = json.loads(done.stdout)
        reasons = {one["name"]: one["reason"] for one in told["machines"]}
        assert reasons["alpha"] == ""
        assert "No route" in reasons["beta"] or "timed out" in reasons["beta"]
        before = (tmp_path / "fleet" / "alpha" / "result.json").stat().st_mtime_ns
        hosts.add("beta")
        printed = run_well(
            *hosts.enter,
            *regatta("fleet", "--resume", "fleet"),
            cwd=tmp_path,
            env=lab,
            timeout=LIFE_S,
        )
        wait_until(lambda: hosts.running("alpha") + hosts.running("beta") == [], "something runs")
    assert (tmp_path / "fleet" / "alpha" / "result.json").stat().st_mtime_ns == before
    assert "2 machines of 1 kind" in printed
    page = (tmp_path / "fleet" / "fleet.html").read_text()
    for name in ("alpha", "beta"):
        assert f'href="{name}/report.html"' in page
        result = json.loads((tmp_path / "fleet" / name / "result.json").read_text())
        assert result["trials"]["ok"] == {"timed": 12}
        assert result["environment"]["placement"]["kind"] == "loopback"
    assert left() <= before_all, "nothing stays on the machines"


def test_a_cluster_of_the_users_is_a_fleet(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(SMALL))
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        command = ("fleet", "study.toml", "--cluster", cluster.scheduler_address, "--out", "fleet")
        printed = run_well(*regatta(*command), cwd=tmp_path, env=environment(), timeout=LIFE_S)
    assert "1 machine of 1 kind" in printed
    assert (tmp_path / "fleet" / "127.0.0.1" / "ledger.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "name the machines"),
        (("--host", "ssh://a", "--cluster", "tcp://b:1"), "name the machines"),
        (("--host", "a"), "a is no machine; write ssh://HOST"),
        (("--hosts", "nowhere.txt"), "cannot read nowhere.txt"),
        (("--resume",), "--resume needs the folder"),
    ],
)
def test_what_is_no_fleet_is_said_in_one_line(
    words: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    done = run(*regatta("fleet", *words), cwd=tmp_path, env=environment(), timeout=60)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


@needs_hosts
def test_an_interrupted_fleet_ends_what_it_started(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(SMALL, blocks=40))
    before_all = left()
    with network(tmp_path / "network", "alpha") as hosts:
        lab = {**environment(), "PATH": hosts.path()}
        started = subprocess.Popen(
            [
                *hosts.enter,
                *regatta("fleet", "study.toml", "--host", "ssh://alpha", "--out", "fleet"),
            ],
            cwd=tmp_path,
            env=lab,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        wait_until(
            lambda: "regatta-server" in "".join(hosts.running("alpha")), "no race begins", LIFE_S
        )
        started.send_signal(signal.SIGINT)
        _, complaint = started.communicate(timeout=LIFE_S)
        assert started.returncode == 130
        assert "--resume" in complaint.decode()
        wait_until(lambda: hosts.running("alpha") == [], lambda: str(hosts.running("alpha")), 30)
    (kept,) = left() - before_all
    assert (kept / "alpha" / "race" / "ledger.sqlite").exists(), "it would go on where it was"
    shutil.rmtree(kept)
