"""Races in containers: all networks, contenders in images, and cleaning up."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from regatta.ledger.read import read
from regatta.ledger.result import Result
from regatta.machine.accounts.cgroup import find_home
from regatta.machine.containers.engine import PODMAN, find_engine
from regatta.machine.containers.image import make_image
from regatta.machine.containers.reaper import LOCKS, machine_mark
from tests.commands import run
from tests.container_engine import containers, needs_podman
from tests.e2e.racing import (
    ROOT,
    begin,
    environment,
    needs_programs,
    needs_two_cpus,
    race,
    regatta,
    study,
)
from tests.ledgers import rows
from tests.pooled_loads import assert_one_load
from tests.processes import children, commands, is_gone, marked
from tests.waiting import wait_until

pytestmark = [
    needs_programs,
    needs_podman,
    pytest.mark.usefixtures("podman"),
    needs_two_cpus,
]
QUICK_LIKE = """
[placement]
kind = "containers"
network = "{network}"
clients = {clients}
[[cells]]
designs = ["iterative", "thread-per-client", "select"]
connections = [10]
work = "snapshot"
requests = 40
"""
OPEN = 'load = "open"\nrate = 300\nduration_s = 0.5'
LIFE_S = 120.0
FILTER = Path("/usr/share/containers/seccomp.json")


def locks() -> list[Path]:
    return list(LOCKS.glob(f"{machine_mark()}-*")) if LOCKS.exists() else []


def placement_of(out: Path) -> dict[str, object]:
    ((text,),) = rows(out, "SELECT value FROM environment WHERE key = 'placement'")
    found: dict[str, object] = json.loads(text)
    return found


@pytest.mark.parametrize("network", ["bridge", "veth", "host"])
def test_three_designs_are_raced_in_containers(network: str, tmp_path: Path) -> None:
    clients = 2 if network == "veth" else 1
    text = study(QUICK_LIKE.format(network=network, clients=clients), counted_blocks=1, slices=2)
    out = race(tmp_path, text)
    assert rows(out, "SELECT DISTINCT status, reason FROM trial") == [("ok", None)]
    assert rows(out, "SELECT DISTINCT placement FROM cell") == [("containers",)]
    where = placement_of(out)
    assert (where["engine"], where["network"]) == ("podman", network)
    assert where["engine_version"] in subprocess.check_output(["podman", "--version"], text=True)
    if network != "host":
        ends = where["ends"]
        assert isinstance(ends, dict)
        assert {end["cable"] for end in ends.values()} == {"veth"}
    shown = f"containers (podman {where['engine_version']}, network {network})"
    assert shown in (out / "report.html").read_text()
    for trial in read(out / "ledger.sqlite").trials:
        assert [one.connections for one in trial.clients] == ([5, 5] if clients > 1 else [])
        assert (trial.requests, trial.answered) == (40, 40)
    assert (containers(), locks()) == ([], [])


def test_clients_in_containers_make_one_load(tmp_path: Path) -> None:
    cells = QUICK_LIKE.format(network="veth", clients=2).replace("requests = 40", OPEN)
    out = race(tmp_path, study(cells.replace('"iterative", "thread-per-client", ', ""), slices=2))
    assert_one_load(out, clients=2)


def test_a_design_that_the_engine_forbids_is_left_out_with_a_reason(tmp_path: Path) -> None:
    cells = QUICK_LIKE.format(network="host", clients=1).replace('"thread-per-client"', '"uring"')
    with FILTER.open() as file:
        forbids = "io_uring_setup" not in file.read()
    out = race(tmp_path, study(cells))
    ((text,),) = rows(out, "SELECT value FROM environment WHERE key = 'left_out'")
    names = {name for (name,) in rows(out, "SELECT contender FROM cell")}
    assert rows(out, "SELECT DISTINCT status FROM trial") == [("ok",)]
    if forbids:
        assert names == {"iterative", "select"}
        assert "io_uring" in json.loads(text)["uring"]
    else:
        assert names | json.loads(text).keys() == {"iterative", "select", "uring"}
    again = run(*regatta("race", "--resume", str(out)), env=environment(), timeout=60)
    assert again.returncode == 0, again.stderr


def test_perf_and_the_kernel_count_the_same_processes(tmp_path: Path) -> None:
    if find_home() is None:
        pytest.skip("control groups are not permitted here")
    cells = QUICK_LIKE.format(network="bridge", clients=1).replace('"select"', '"fork-per-client"')
    cells = cells.replace("snapshot", "spin=2ms")
    out = race(tmp_path, study(cells, counted_blocks=1))
    assert rows(out, "SELECT value FROM environment WHERE key = 'perf_follows'") == [
        ('"control group"',)
    ]
    trials = [trial for trial in read(out / "ledger.sqlite").trials if trial.kind == "counted"]
    assert len(trials) == 3
    for trial in trials:
        perf, kernel = (
            trial.counters[key].value
            for key in (("server", "perf", "task-clock"), ("server", "kernel", "cpu-time"))
        )
        assert perf == pytest.approx(kernel, rel=0.1)
        assert kernel >= 40 * 2e6, "40 requests that spin 2 ms each"


def start(folder: Path, network: str = "bridge", blocks: int = 20) -> subprocess.Popen[bytes]:
    """Starts a race and waits for its first server."""
    text = study(QUICK_LIKE.format(network=network, clients=1), blocks)
    (folder / "study.toml").write_text(text)
    lab = begin(folder, "race", "study.toml", "--out", "race")
    fewest = 1 if network == "host" else 3
    ready = folder / "race" / ".trial" / "0" / "server.stderr"
    wait_until(ready.exists, "no trial starts", LIFE_S)
    wait_until(lambda: len(containers()) >= fewest, "no container starts", LIFE_S)
    return lab


# On the host's network there is no network container whose end would end the others.
@pytest.mark.parametrize(
    ("by", "network"),
    [
        (signal.SIGKILL, "host"),
        (signal.SIGKILL, "bridge"),
        (signal.SIGTERM, "host"),
        (signal.SIGINT, "bridge"),
    ],
)
def test_a_killed_race_leaves_no_container(
    by: signal.Signals, network: str, tmp_path: Path
) -> None:
    lab = start(tmp_path, network)
    lab.send_signal(by)
    _, complaint = lab.communicate(timeout=LIFE_S)
    assert lab.returncode == (130 if by == signal.SIGINT else -by)
    assert "Traceback" not in complaint.decode()
    wait_until(lambda: not containers(), lambda: f"left: {containers()}", LIFE_S)
    wait_until(lambda: not locks(), lambda: f"left: {locks()}", LIFE_S)
    wait_until(lambda: not marked(tmp_path.name), "a process is left", LIFE_S)


def test_a_resumed_race_removes_containers_left_by_a_kill(tmp_path: Path) -> None:
    lab = start(tmp_path, "host", blocks=2)
    watchers = [pid for pid in children(lab.pid) if "regatta.race=" in " ".join(commands([pid]))]
    watchers = [pid for pid in watchers if "ps --all" in " ".join(commands([pid]))]
    assert len(watchers) == 1
    for pid in (*watchers, lab.pid):
        os.kill(pid, signal.SIGKILL)
    lab.wait()
    wait_until(lambda: all(map(is_gone, watchers)), "the watcher is still running")
    left = containers()
    assert left, "they are removed already"
    done = run(*regatta("race", "--resume", "race"), cwd=tmp_path, env=environment(), timeout=300)
    assert done.returncode == 0, done.stderr
    assert (containers(), locks()) == ([], [])
    assert rows(tmp_path / "race", "SELECT DISTINCT status FROM trial") == [("ok",)]


CONTENDERS = """
[placement]
kind = "containers"
[contenders.boxed]
command = ["{server}", "--design", "poll", "--listen", "{{host}}:{{port}}", "--no-token",
           "--allow", "0.0.0.0/0", "--work", "snapshot"]
image = "{image}"
dialect = "line"
[contenders.mounted]
command = ["{{folder}}/mine", "--design", "poll", "--listen", "{{host}}:{{port}}", "--no-token",
           "--allow", "0.0.0.0/0", "--work", "snapshot"]
dialect = "line"
[contenders.missing]
command = ["/no/such", "{{port}}"]
image = "{image}"
dialect = "line"
[[cells]]
contenders = ["boxed", "mounted", "missing"]
connections = 4
load = "burst"
requests = 400
"""


def others_of(trial: Result) -> set[str]:
    """The programs that used the CPUs beside the trial."""
    return {other["name"] for other in trial.conditions.get("others", ())}


def test_a_contender_is_in_an_image_or_mounted_and_a_failed_start_has_a_reason(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    boxed, mounted = tmp_path_factory.mktemp("packed") / "boxed", tmp_path / "mine"
    for path in (boxed, mounted):
        shutil.copy(ROOT / "bin" / "regatta-server", path)
    image = make_image(find_engine(PODMAN), (), (boxed,))
    boxed.unlink()  # now only the image has it
    (tmp_path / "study.toml").write_text(study(CONTENDERS.format(server=boxed, image=image)))
    out = tmp_path / "race"
    command = regatta("race", "study.toml", "--out", str(out))
    done = run(*command, cwd=tmp_path, env=environment(), timeout=300)
    assert done.returncode == 1
    found = dict(rows(out, "SELECT contender, reason FROM trial JOIN cell ON cell.id = cell_id"))
    assert found.pop("boxed") is None
    assert found.pop("mounted") is None
    reason = found.pop("missing")
    assert reason.startswith("the server exited before it was ready: Error: ")
    assert "/no/such" in reason
    for trial in read(out / "ledger.sqlite").trials:
        assert not others_of(trial) & {"boxed", "mine"}, "the race's own programs"
    assert containers() == []


def test_a_missing_image_is_reported_before_the_race(tmp_path: Path) -> None:
    text = CONTENDERS.format(server="/bin/true", image="localhost/regatta-nowhere")
    (tmp_path / "mine").write_bytes(Path(sys.executable).resolve().read_bytes())
    (tmp_path / "mine").chmod(0o755)
    (tmp_path / "study.toml").write_text(study(text))
    done = run(*regatta("race", "study.toml"), cwd=tmp_path, env=environment(), timeout=60)
    assert done.returncode == 1
    assert "podman has no image localhost/regatta-nowhere; podman pull" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert containers() == []


@pytest.mark.long
@pytest.mark.skipif(shutil.which("docker") is None, reason="docker's command is not installed")
def test_docker_works_like_podman(
    podman: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The docker command with podman's service, which has the API of docker's daemon."""
    address = f"unix://{podman}/docker.sock"
    with subprocess.Popen(["podman", "system", "service", "--time", "0", address]) as service:
        try:
            wait_until((podman / "docker.sock").exists, "podman's service does not listen")
            monkeypatch.setenv("DOCKER_HOST", address)
            cells = QUICK_LIKE.format(network='veth"\nengine = "docker', clients=1)
            out = race(tmp_path, study(cells, counted_blocks=1))
        finally:
            service.terminate()
    assert rows(out, "SELECT DISTINCT status, reason FROM trial") == [("ok", None)]
    assert (placement_of(out)["engine"], placement_of(out)["network"]) == ("docker", "veth")
    assert (containers(), locks()) == ([], [])
