"""A container engine for tests: podman with its own configuration and storage.

These settings work as root on a virtual machine, independent of the user's configuration.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from regatta.machine.containers.reaper import LABEL

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


def containers() -> list[str]:
    """The names of all containers that races have created, in any state."""
    words = ["ps", "--all", "--filter", f"label={LABEL}", "--format", "{{.Names}}"]
    return subprocess.run(
        ["podman", *words], capture_output=True, text=True, check=True
    ).stdout.split()
