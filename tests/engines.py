"""A container engine for tests: podman with a configuration and a store of its own.

On a virtual machine like ours podman works as root with these settings, whatever the user's say.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from regatta.machine.containers.leash import LABEL

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
needs_podman = pytest.mark.skipif(
    os.geteuid() != 0 or not (shutil.which("podman") and shutil.which("runc")),
    reason="containers need root, podman and runc: scripts/setup test",
)


@pytest.fixture(scope="session")
def podman_home() -> Iterator[Path]:
    """The store; its path is short, as podman wants it."""
    with tempfile.TemporaryDirectory(prefix="rg", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "containers.conf").write_text(CONFIGURATION)
        (folder / "storage.conf").write_text(STORAGE.format(folder=folder))
        yield folder


@pytest.fixture
def podman(podman_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is started from here on uses that store. Returns its folder."""
    monkeypatch.setenv("CONTAINERS_CONF", str(podman_home / "containers.conf"))
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(podman_home / "storage.conf"))
    return podman_home


def containers() -> list[str]:
    """The names of all that a race has made and that are there, whatever they do."""
    words = ["ps", "--all", "--filter", f"label={LABEL}", "--format", "{{.Names}}"]
    return subprocess.run(
        ["podman", *words], capture_output=True, text=True, check=True
    ).stdout.split()
