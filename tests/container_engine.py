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
from contextlib import contextmanager
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


@contextmanager
def engine_folder() -> Iterator[tuple[Path, pytest.MonkeyPatch]]:
    """Engines need a short path. Beside it what sets their environment."""
    with (
        tempfile.TemporaryDirectory(prefix="rg", ignore_cleanup_errors=True) as name,
        pytest.MonkeyPatch.context() as settings,
    ):
        yield Path(name), settings


@pytest.fixture(scope="session")
def podman() -> Iterator[None]:
    """Makes podman use a storage of the tests."""
    with engine_folder() as (folder, settings):
        for name, text in (("CONTAINERS", CONFIGURATION), ("CONTAINERS_STORAGE", STORAGE)):
            path = folder / f"{name}.conf"
            path.write_text(text.format(folder=folder))
            settings.setenv(f"{name}_CONF", str(path))
        yield


@pytest.fixture(scope="session")
def docker() -> Iterator[None]:
    """Makes docker ask a daemon of the tests."""
    if not (shutil.which("dockerd") and shutil.which("docker")):
        pytest.skip("docker's daemon is not installed: scripts/setup guests")
    with engine_folder() as (folder, settings):
        places = [f"--{key}={folder / key}" for key in ("data-root", "exec-root", "pidfile")]
        # Its bridge and its rules stay in a network of its own.
        start = ["unshare", "--net", "--", "sh", "-c", 'ip link set lo up && exec dockerd "$@"']
        command = [*start, "sh", *places, f"--host=unix://{folder}/socket", *DOCKERD]
        settings.setenv("DOCKER_HOST", f"unix://{folder}/socket")
        log = folder / "log"
        with log.open("wb") as output:
            daemon = subprocess.Popen(command, stdout=output, stderr=output)
        with daemon:
            try:
                wait_until(lambda: "API listen" in log.read_text(), lambda: log.read_text()[-2000:])
                yield
            finally:
                daemon.terminate()


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
