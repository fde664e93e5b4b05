"""Races in containers: all networks, contenders in images, and cleaning up."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from regatta.measure.accounts.cgroup import find_home
from regatta.measure.places.containers.engine import PODMAN
from regatta.record.read import read
from tests.commands import run
from tests.container_engine import containers, import_image, needs_podman
from tests.e2e.racing import (
    ROOT,
    begin,
    end_well,
    environment,
    needs_programs,
    needs_two_cpus,
    race,
    regatta,
    study,
)
from tests.ledgers import rows
from tests.processes import children, commands, is_gone, marked
from tests.waiting import wait_until

pytestmark = [
    needs_programs,
    needs_podman,
    pytest.mark.usefixtures("container_engine"),
    needs_two_cpus,
]
QUICK_LIKE = """
[placement]
kind = "containers"
engine = "{engine}"
network = "{network}"
clients = {clients}
[[cells]]
designs = ["iterative", "thread-per-client", "select"]
connections = [10]
work = "snapshot"
requests = 40
"""
LIFE_S = 120.0
FILTER = Path("/usr/share/containers/seccomp.json")
"""Podman's; that of docker is part of its daemon."""


@pytest.mark.parametrize(
    "network",
    ["bridge", *(pytest.param(name, marks=pytest.mark.long) for name in ("veth", "host"))],
)
def test_three_designs_are_raced_in_containers(
    network: str, container_engine: str, tmp_path: Path
) -> None:
    clients = 2 if network == "veth" else 1
    text = study(
        QUICK_LIKE.format(engine=container_engine, network=network, clients=clients),
        counted_blocks=1,
        slices=2,
    )
    out = race(tmp_path, text)
    assert rows(out, "SELECT DISTINCT status, reason FROM trial") == [("ok", None)]
    assert rows(out, "SELECT DISTINCT placement FROM cell") == [("containers",)]
    found = read(out / "ledger.sqlite")
    where = found.environment["placement"]
    assert (where["engine"], where["network"]) == (container_engine, network)
    assert where["engine_version"] in subprocess.check_output(
        [container_engine, "version"], text=True
    )
    if network != "host":
        assert {end["cable"] for end in where["ends"].values()} == {"veth"}
    shown = f"containers ({container_engine} {where['engine_version']}, network {network})"
    assert shown in (out / "report.html").read_text()
    for trial in found.trials:
        parts = trial.client.get("clients", [])
        assert [part["connections"] for part in parts] == ([5, 5] if clients > 1 else [])
        assert (trial.requests, trial.answered) == (40, 40)
    assert containers(container_engine) == []


def test_a_design_that_the_engine_forbids_is_left_out_with_a_reason(
    container_engine: str, tmp_path: Path
) -> None:
    cells = QUICK_LIKE.format(engine=container_engine, network="host", clients=1).replace(
        '"thread-per-client"', '"uring"'
    )
    forbids = container_engine == PODMAN and "io_uring_setup" not in FILTER.read_text()
    out = race(tmp_path, study(cells))
    left_out = read(out / "ledger.sqlite").environment["left_out"]
    names = {name for (name,) in rows(out, "SELECT contender FROM cell")}
    assert rows(out, "SELECT DISTINCT status FROM trial") == [("ok",)]
    assert {*names, *left_out} == {"iterative", "select", "uring"}
    assert not forbids or set(left_out) == {"uring"}
    assert all("io_uring" in why for why in left_out.values())
    end_well(tmp_path, "race", "--resume", str(out))


def test_perf_and_the_kernel_count_the_same_processes(
    container_engine: str, tmp_path: Path
) -> None:
    if find_home() is None:
        pytest.skip("control groups are not permitted here")
    cells = QUICK_LIKE.format(engine=container_engine, network="bridge", clients=1).replace(
        '"select"', '"fork-per-client"'
    )
    cells = cells.replace("snapshot", "spin=2ms")
    out = race(tmp_path, study(cells, counted_blocks=1))
    found = read(out / "ledger.sqlite")
    assert found.environment["perf_follows"] == "control group"
    trials = [trial for trial in found.trials if trial.kind == "counted"]
    assert len(trials) == 3
    for trial in trials:
        perf, kernel = (
            trial.counters[key].value
            for key in (("server", "perf", "task-clock"), ("server", "kernel", "cpu-time"))
        )
        assert perf == pytest.approx(kernel, rel=0.1)
        assert kernel >= 40 * 2e6, "40 requests that spin 2 ms each"


def start(
    folder: Path, container_engine: str, network: str = "bridge", blocks: int = 20
) -> subprocess.Popen[bytes]:
    """Starts a race and waits for its first server."""
    text = study(QUICK_LIKE.format(engine=container_engine, network=network, clients=1), blocks)
    (folder / "study.toml").write_text(text)
    lab = begin(folder, "race", "study.toml", "--out", "race")
    fewest = 1 if network == "host" else 3
    ready = folder / "race" / ".trial" / "0" / "server.stderr"
    wait_until(ready.exists, "no trial starts", LIFE_S)
    wait_until(lambda: len(containers(container_engine)) >= fewest, "no container starts", LIFE_S)
    return lab


# On the host's network there is no network container whose end would end the others.
@pytest.mark.parametrize(
    ("by", "network"),
    [(signal.SIGKILL, "host"), (signal.SIGINT, "bridge")],
)
def test_a_killed_race_leaves_no_container(
    by: signal.Signals, network: str, container_engine: str, tmp_path: Path
) -> None:
    lab = start(tmp_path, container_engine, network)
    lab.send_signal(by)
    _, complaint = lab.communicate(timeout=LIFE_S)
    assert lab.returncode == (130 if by == signal.SIGINT else -by)
    assert "Traceback" not in complaint.decode()
    wait_until(
        lambda: not containers(container_engine),
        lambda: f"left: {containers(container_engine)}",
        LIFE_S,
    )
    wait_until(lambda: not marked(tmp_path.name), "a process is left", LIFE_S)


def test_a_resumed_race_removes_containers_left_by_a_kill(
    container_engine: str, tmp_path: Path
) -> None:
    lab = start(tmp_path, container_engine, "host", blocks=2)
    watchers = [pid for pid in children(lab.pid) if "regatta.race=" in " ".join(commands([pid]))]
    watchers = [pid for pid in watchers if "ps --all" in " ".join(commands([pid]))]
    assert len(watchers) == 1
    for pid in (*watchers, lab.pid):
        os.kill(pid, signal.SIGKILL)
    lab.wait()
    wait_until(lambda: all(map(is_gone, watchers)), "the watcher is still running")
    left = containers(container_engine)
    assert left, "they are removed already"
    end_well(tmp_path, "race", "--resume", "race")
    assert containers(container_engine) == []
    assert rows(tmp_path / "race", "SELECT DISTINCT status FROM trial") == [("ok",)]


CONTENDERS = """
[placement]
kind = "containers"
engine = "{engine}"
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


def test_a_contender_is_in_an_image_or_mounted_and_a_failed_start_has_a_reason(
    container_engine: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    boxed, mounted = tmp_path_factory.mktemp("packed") / "boxed", tmp_path / "mine"
    for path in (boxed, mounted):
        shutil.copy(ROOT / "bin" / "regatta-server", path)
    image = "localhost/boxed:1"
    import_image(container_engine, image, boxed)
    boxed.unlink()  # now only the image has it
    (tmp_path / "study.toml").write_text(
        study(CONTENDERS.format(engine=container_engine, server=boxed, image=image))
    )
    out = tmp_path / "race"
    command = regatta("race", "study.toml", "--out", str(out))
    done = run(*command, cwd=tmp_path, env=environment(), timeout=300)
    assert done.returncode == 1
    found = dict(rows(out, "SELECT contender, reason FROM trial JOIN cell ON cell.id = cell_id"))
    assert found.pop("boxed") is None
    assert found.pop("mounted") is None
    reason = found.pop("missing")
    assert reason.startswith("the server exited before it was ready: ")
    assert "no such file" in reason
    assert "/no/such" in reason
    for trial in read(out / "ledger.sqlite").trials:
        others = {other["name"] for other in trial.conditions.get("others", ())}
        assert not others & {"boxed", "mine"}, "the race's own programs"
    assert containers(container_engine) == []
