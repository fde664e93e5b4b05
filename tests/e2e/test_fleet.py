"""`regatta collect`: the same study on several machines, lost machines, resuming."""

import json
import shutil
import signal
from pathlib import Path

import pytest

from regatta.verbs.fleet import fleet_folder
from tests.commands import assert_refused, run, run_well
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


def left() -> set[Path]:
    """Results kept on the machines, which share the files of this one."""
    return set(fleet_folder("").glob("*"))


def ledgers(folders: set[Path]) -> list[Path]:
    return [path for folder in folders for path in folder.glob("*/race/ledger.sqlite")]


@pytest.mark.long
@needs_hosts
def test_a_fleet_with_a_lost_machine_can_be_resumed(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(SMALL, blocks=6))
    (tmp_path / "hosts.txt").write_text("ssh://beta # the second\n\n")
    before_all = left()
    with network(tmp_path / "network", "alpha", "beta") as hosts:
        hosts.kill("beta")
        command = ("collect", "study.toml", "--host", "ssh://alpha", "--hosts", "hosts.txt")
        settings = {"cwd": tmp_path, "env": hosts.environment(), "timeout": LIFE_S}
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


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("over.toml",), "machines to race over.toml on"),
        (("quick",), "machines to race quick on"),
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
    assert_refused(done, name="regatta")
    assert complaint in done.stderr


@needs_hosts
def test_an_interrupted_fleet_ends_its_processes(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(SMALL, blocks=40))
    before_all = left()
    with network(tmp_path / "network", "alpha") as hosts:
        command = ("collect", "study.toml", "--host", "ssh://alpha", "--out", "fleet")
        started = begin(tmp_path, *command, prefix=hosts.enter, env=hosts.environment())
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
