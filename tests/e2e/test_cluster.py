"""Races whose sides are on workers of the user's Dask cluster."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from regatta.record.read import read
from regatta.record.schema import FILE_NAME
from tests.commands import Done, assert_refused, run
from tests.dask_clusters import Cluster, cluster
from tests.e2e import racing
from tests.e2e.racing import (
    FOUR_SECONDS,
    TWO_DESIGNS,
    needs_programs,
    needs_two_cpus,
    regatta,
    study,
)
from tests.ledgers import rows
from tests.namespaces import needs_hosts
from tests.waiting import wait_until

pytestmark = [needs_programs, needs_hosts, needs_two_cpus]
LIFE_S = 180.0
GONE_S = 15.0


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Its connections are encrypted. The last test ends its scheduler."""
    with cluster(tmp_path_factory.mktemp("cluster") / "network") as made:
        yield made


def placed(user: Cluster, *clients: str) -> str:
    """The server is on worker-a; without clients, the client is on worker-b."""
    names = ", ".join(f'"{name}"' for name in clients or ("worker-b",))
    sides = f'server = "worker-a"\nclients = [{names}]\n'
    return f'[placement]\nkind = "hosts"\ncluster = "{user.address}"\n{sides}'


def ask(user: Cluster, folder: Path, *words: str) -> Done:
    command = (*user.hosts.enter, *regatta(*words))
    return run(*command, cwd=folder, env=user.environment(), timeout=LIFE_S)


def test_workers_of_a_cluster_are_raced_and_stay(user: Cluster, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(study(placed(user) + TWO_DESIGNS, counted_blocks=1))
    checked = ask(user, tmp_path, "doctor", "study.toml", "--json")
    done = ask(user, tmp_path, "race", "study.toml", "--out", "race")
    assert user.ours() == []
    user.wait_for_workers()
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert json.loads(checked.stdout)["serious"] == 0
    assert done.returncode == 0, done.stderr
    out = tmp_path / "race"
    assert rows(out, "SELECT DISTINCT status, reason FROM trial") == [("ok", None)]
    where = read(out / FILE_NAME).environment["placement"]
    assert where["note"] is None
    assert where["host_names"] == {"server": "worker-a", "clients": ["worker-b"]}
    assert where["server_address"] not in where["client_addresses"]
    assert "hosts (server worker-a, client worker-b)" in (out / "report.html").read_text()


def begin(user: Cluster, folder: Path) -> subprocess.Popen[bytes]:
    """Starts a race and waits until a client is at work."""
    (folder / "study.toml").write_text(study(placed(user) + FOUR_SECONDS, 3))
    command = ("race", "study.toml", "--out", "race")
    started = racing.begin(folder, *command, prefix=user.hosts.enter, env=user.environment())

    def at_work() -> bool:
        assert started.poll() is None, started.communicate()
        return "--gate-fd" in "".join(user.hosts.running("beta"))

    wait_until(at_work, "no client starts", LIFE_S)
    return started


def test_workers_that_cannot_be_used_are_refused_in_one_line(user: Cluster, tmp_path: Path) -> None:
    refused = {
        "worker-c": "no worker with the name or address 'worker-c'; did you mean 'worker-",
        user.worker_address("worker-a"): "are on one host (10.88.7.2)",
    }
    for client, complaint in refused.items():
        (tmp_path / "study.toml").write_text(study(placed(user, client) + TWO_DESIGNS))
        done = ask(user, tmp_path, "race", "study.toml", "--out", "race")
        assert_refused(done, name="regatta")
        assert complaint in done.stderr
        assert not (tmp_path / "race").exists()
        assert user.ours() == []


@pytest.mark.long
def test_a_lost_worker_fails_the_trial_and_the_race_can_be_resumed(
    user: Cluster, tmp_path: Path
) -> None:
    race = begin(user, tmp_path)
    user.hosts.kill("beta")
    _, complaint = race.communicate(timeout=LIFE_S)
    assert race.returncode == 1
    assert "the host worker-b was lost" in complaint.decode()
    assert "--resume" in complaint.decode()
    user.hosts.add("beta")
    wait_until(lambda: user.ours() == [], lambda: str(user.ours()), GONE_S)
    user.start_worker("beta")
    user.wait_for_workers()
    ask(user, tmp_path, "race", "--resume", "race")
    found = rows(tmp_path / "race", "SELECT status, reason FROM trial ORDER BY id")
    assert [status for status, _ in found] == ["failed", "ok", "ok"], found
    assert "the host worker-b was lost" in found[0][1]
    assert user.ours() == []


def test_sides_have_none_of_dasks_settings_and_end_with_its_scheduler(
    user: Cluster, tmp_path: Path
) -> None:
    race = begin(user, tmp_path)
    environments = user.environments("beta")
    setting = b"\0OMP_NUM_THREADS="
    assert any(setting in text for _, text in environments), "Dask sets none"
    clients = [text for command, text in environments if "--gate-fd" in command]
    assert clients
    assert not any(setting in text for text in clients)
    user.processes["scheduler"].kill()
    wait_until(lambda: user.ours() == [], lambda: str(user.ours()), GONE_S)
    _, complaint = race.communicate(timeout=LIFE_S)
    assert "was lost" in complaint.decode()


@pytest.mark.long
def test_a_scheduler_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    text = '[placement]\nkind = "hosts"\ncluster = "tcp://127.0.0.1:1"\n'
    (tmp_path / "study.toml").write_text(
        study(f'{text}server = "a"\nclients = ["b"]\n{TWO_DESIGNS}')
    )
    command = regatta("race", "study.toml", "--out", "race")
    done = run(*command, cwd=tmp_path, env=racing.environment(), timeout=LIFE_S)
    assert_refused(done, 1, "regatta")
    assert "the scheduler tcp://127.0.0.1:1 does not answer" in done.stderr
