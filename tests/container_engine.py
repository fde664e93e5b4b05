"""Container engines for tests: podman with its own configuration and storage, and docker with a
daemon of the tests' own, in a network of its own.

These settings work as root on a virtual machine, independent of the user's configuration.
"""

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from regatta.measure.places.containers.engine import DOCKER, PODMAN
from regatta.measure.places.containers.reaper import LABEL
from tests.waiting import wait_until

CONFIGURATION = """
[containers]
default_ulimits = []
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
"""
STORAGE = """
[storage]
driver = "vfs"
graphroot = "{folder}/graph"
runroot = "{folder}/run"
"""
DOCKERD = ("--storage-driver=vfs", "--exec-opt=native.cgroupdriver=cgroupfs", "--iptables=false")
has_control_groups = any(
    line.partition(" - ")[2].startswith("cgroup")
    for line in Path("/proc/self/mountinfo").read_text().splitlines()
)
needs_podman = pytest.mark.skipif(
    os.geteuid() != 0
    or not (shutil.which("podman") and shutil.which("runc"))
    or not has_control_groups,
    reason="containers need root, mounted control groups, podman and runc: scripts/setup test",
)


@pytest.fixture(scope="session")
def podman_home() -> Iterator[Path]:
    """Podman's storage folder. Podman needs a short path."""
    with tempfile.TemporaryDirectory(prefix="rg", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "containers.conf").write_text(CONFIGURATION)
        (folder / "storage.conf").write_text(STORAGE.format(folder=folder))
        yield folder


@pytest.fixture
def podman(podman_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes podman use the test storage. Returns the storage folder."""
    monkeypatch.setenv("CONTAINERS_CONF", str(podman_home / "containers.conf"))
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(podman_home / "storage.conf"))
    return podman_home


@pytest.fixture(scope="session")
def docker_home() -> Iterator[Path]:
    """The folder of a docker daemon that runs; its socket is `socket` in it."""
    if not (shutil.which("dockerd") and shutil.which("docker")):
        pytest.skip("docker's daemon is not installed: scripts/setup guests")
    with tempfile.TemporaryDirectory(prefix="rg", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        places = [f"--{key}={folder / key}" for key in ("data-root", "exec-root", "pidfile")]
        # Its bridge and its rules stay in a network of its own.
        start = [
            "unshare",
            "--net",
            "--",
            "sh",
            "-c",
            'ip link set lo up && exec dockerd "$@"',
            "sh",
        ]
        with (
            (folder / "log").open("wb") as log,
            subprocess.Popen(
                [*start, *places, f"--host=unix://{folder}/socket", *DOCKERD],
                stdout=log,
                stderr=log,
            ) as daemon,
        ):
            try:
                wait_until(
                    lambda: "API listen" in (folder / "log").read_text(),
                    lambda: (folder / "log").read_text()[-2000:],
                )
                yield folder
            finally:
                daemon.terminate()


@pytest.fixture
def docker(docker_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes docker ask the tests' daemon. Returns the daemon's folder."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{docker_home}/socket")
    return docker_home


@pytest.fixture(params=[PODMAN, pytest.param(DOCKER, marks=pytest.mark.long)])
def container_engine(request: pytest.FixtureRequest) -> str:
    """Either works, with settings of the tests."""
    name: str = request.param
    request.getfixturevalue(name)
    return name


def containers(engine: str = PODMAN) -> list[str]:
    """The names of all containers that races have created, in any state."""
    words = ["ps", "--all", "--filter", f"label={LABEL}", "--format", "{{.Names}}"]
    return subprocess.run(
        [engine, *words], capture_output=True, text=True, check=True
    ).stdout.split()


def import_image(engine: str, name: str, program: Path, *changes: str) -> None:
    """Makes an image of a program and its libraries. `changes`: as in a Dockerfile."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    libraries = [word for word in said.split() if word.startswith("/")]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", dereference=True) as tar:
        for path in (str(program), *libraries):
            tar.add(path)
    words = [word for change in changes for word in ("--change", change)]
    subprocess.run([engine, "import", *words, "-", name], input=packed.getvalue(), check=True)
