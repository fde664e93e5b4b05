"""`regatta collect`: the same study on several machines, lost machines, resuming."""

import json
import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from distributed import LocalCluster

from regatta.verbs.fleet import fleet_folder
from tests.commands import run, run_well
from tests.e2e.racing import begin, environment, needs_programs, needs_two_cpus, regatta, study
from tests.namespaces import needs_hosts, network
from tests.waiting import wait_until

pytestmark = [needs_programs, needs_two_cpus]
SMALL = """
[placement]
kind = "loopback"
[[cells]]
designs = ["select", "epoll"]
connections = [4]
work = "snapshot"
requests = 40
"""
OVER = '"hosts"\nserver = "ssh://a"\nclients = "ssh://b"'
LIFE_S = 240.0
DASK_SETS = {"MALLOC_TRIM_THRESHOLD_", "OMP_NUM_THREADS"}


def test_a_dead_worker_is_reported_and_its_race_ends(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(SMALL, blocks=99))
    before_all = left()
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        command = (
            "collect",
            "study.toml",
            "--cluster",
            cluster.scheduler_address,
            "--out",
            "fleet",
        )
        racing = begin(tmp_path, *command)
        wait_until(lambda: servers_in(left() - before_all), "no race starts", LIFE_S)
        for pid in processes_in(left() - before_all):
            assert not DASK_SETS & environment_names(pid)
        (worker,) = cluster.workers.values()
        assert DASK_SETS & environment_names(worker.process.pid), "Dask sets none of them"
        os.kill(worker.process.pid, signal.SIGKILL)
        _, complaint = racing.communicate(timeout=LIFE_S)
    assert racing.returncode == 1
    assert "1 machine of 1 failed" in complaint.decode()
    wait_until(lambda: not processes_in(left() - before_all), "the race goes on", 10)
    for kept in left() - before_all:
        shutil.rmtree(kept)


def left() -> set[Path]:
    """Results kept on the machines, which share the files of this one."""
    return set(fleet_folder("").glob("*"))


def ledgers(folders: set[Path]) -> list[Path]:
    return [path for folder in folders for path in folder.glob("*/race/ledger.sqlite")]


def processes_in(folders: set[Path]) -> list[int]:
    """Processes that work in one of the folders."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folders & {(entry / "cwd").readlink(), *(entry / "cwd").readlink().parents}:
                found.append(int(entry.name))
    return found


def servers_in(folders: set[Path]) -> list[int]:
    return [pid for pid in processes_in(folders) if b"regatta-server" in contents(pid, "cmdline")]


def environment_names(pid: int) -> set[str]:
    return {one.partition(b"=")[0].decode() for one in contents(pid, "environ").split(b"\0")}


def contents(pid: int, name: str) -> bytes:
    """A file of a process; empty if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


@pytest.mark.long
@needs_hosts
def test_a_fleet_with_a_lost_machine_can_be_resumed(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(SMALL, blocks=6))
    (tmp_path / "hosts.txt").write_text("ssh://beta # the second\n\n")
    before_all = left()
    with network(tmp_path / "network", "alpha", "beta") as hosts:
        lab = {**environment(), "PATH": hosts.path()}
        hosts.kill("beta")
        command = ("collect", "study.toml", "--host", "ssh://alpha", "--hosts", "hosts.txt")
        settings = {"cwd": tmp_path, "env": lab, "timeout": LIFE_S}
        command += ("--out", "fleet", "--json")
        done = run(*hosts.enter, *regatta(*command), **settings)
        assert done.returncode == 1
        assert "--resume" in done.stderr
        machines = json.loads(done.stdout)["machines"]
        reasons = {one["name"]: one["reason"] for one in machines}
        assert reasons["alpha"] == ""
        assert "No route" in reasons["beta"] or "timed out" in reasons["beta"]
        before = (tmp_path / "fleet" / "alpha" / "ledger.sqlite").stat().st_mtime_ns
        hosts.add("beta")
        printed = run_well(
            *hosts.enter, *regatta("collect", "--resume", "fleet", "--json"), **settings
        )
        wait_until(
            lambda: hosts.running("alpha") + hosts.running("beta") == [], "a process is left"
        )
    assert (tmp_path / "fleet" / "alpha" / "ledger.sqlite").stat().st_mtime_ns == before
    results = {one["name"]: one["result"] for one in json.loads(printed)["machines"]}
    page = (tmp_path / "fleet" / "collected.md").read_text()
    assert "2 machines of 1 kind" in page
    for name in ("alpha", "beta"):
        assert f"| {name} |" in page
        assert (tmp_path / "fleet" / name / "report.html").exists()
        result = results[name]
        assert result["trials"]["ok"] == {"timed": 12}
        assert result["environment"]["placement"]["kind"] == "loopback"
    assert left() <= before_all, "files are left on the machines"


def test_an_existing_dask_cluster_can_be_the_fleet(tmp_path: Path) -> None:
    """An address that is not loopback gets a warning; 0.0.0.0 leads to this machine too."""
    (tmp_path / "study.toml").write_text(study(SMALL))
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address.replace("127.0.0.1", "0.0.0.0")
        command = ("collect", "study.toml", "--cluster", address, "--out", "fleet")
        printed = run_well(*regatta(*command), cwd=tmp_path, env=environment(), timeout=LIFE_S)
    assert "1 machine of 1 kind" in printed
    assert printed.count("warning:") == printed.count(f"{address} is not encrypted") == 1
    assert (tmp_path / "fleet" / "127.0.0.1" / "ledger.sqlite").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("over.toml",), "machines to race over.toml on"),
        (("quick",), "machines to race quick on"),
        (("over.toml", "--host", "ssh://a", "--cluster", "tcp://b:1"), "name the machines once"),
        (("over.toml", "--host", "a"), "a is not a machine; write ssh://HOST"),
        (("over.toml", "--hosts", "nowhere.txt"), "cannot read nowhere.txt"),
        (("--resume", "here", "--quick"), "--resume takes the folder"),
        (("a", "b", "--host", "ssh://a"), "name one study, not 2"),
        (("over.toml", "--host", "ssh://a"), "names the hosts of one race"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(
    words: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    (tmp_path / "over.toml").write_text(study(SMALL.replace('"loopback"', OVER)))
    done = run(*regatta("collect", *words), cwd=tmp_path, env=environment(), timeout=60)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


@needs_hosts
def test_an_interrupted_fleet_ends_its_processes(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(SMALL, blocks=40))
    before_all = left()
    with network(tmp_path / "network", "alpha") as hosts:
        lab = {**environment(), "PATH": hosts.path()}
        command = ("collect", "study.toml", "--host", "ssh://alpha", "--out", "fleet")
        started = begin(tmp_path, *command, prefix=hosts.enter, env=lab)
        # A server of its own may only tell its designs: trials begin with the ledger.
        wait_until(lambda: ledgers(left() - before_all), "no race starts", LIFE_S)
        started.send_signal(signal.SIGINT)
        _, complaint = started.communicate(timeout=LIFE_S)
        assert started.returncode == 130
        assert "--resume" in complaint.decode()
        wait_until(lambda: hosts.running("alpha") == [], lambda: str(hosts.running("alpha")), 30)
    (kept,) = left() - before_all
    assert ledgers({kept}) == [kept / "alpha" / "race" / "ledger.sqlite"], "it cannot be resumed"
    shutil.rmtree(kept)
