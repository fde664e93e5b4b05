"""Which container engine is used, and what is said where none works."""

from pathlib import Path

import pytest

from regatta.errors import PlacementError
from regatta.measure.places.containers import engine
from regatta.measure.places.containers.engine import find_engine


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs, and no other has an engine."""
    found = {name: tmp_path / name for name in ("podman", "docker")}
    monkeypatch.setattr(
        engine, "find_tool", lambda name: str(found[name]) if found[name].exists() else None
    )
    return tmp_path


def install(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_the_first_that_works_is_taken(installed: Path) -> None:
    install(installed, "podman", "echo 'Error: no runtime' >&2; exit 125")
    install(installed, "docker", 'test "$1 $2" = "info --format" && echo 28.2.2 runc')
    found = find_engine()
    assert (found.name, found.version, found.runtime) == ("docker", "28.2.2", "runc")
    install(installed, "podman", "echo 4.3.1 crun")
    assert find_engine().text == "podman 4.3.1"
    assert find_engine("docker").name == "docker"


def test_without_one_each_says_why_and_what_to_type(installed: Path) -> None:
    install(installed, "docker", "echo 'Cannot connect to the Docker daemon.' >&2; exit 1")
    with pytest.raises(PlacementError) as error:
        find_engine()
    said = str(error.value)
    assert "podman is not installed; docker: Cannot connect to the Docker daemon." in said
    assert "sudo apt-get install podman runc" in said
    assert "\n" not in said
    with pytest.raises(PlacementError, match=r"\(docker: Cannot connect[^;]*\); "):
        find_engine("docker")


def test_an_engines_error_quotes_its_last_line(installed: Path) -> None:
    install(
        installed, "podman", "[ $1 = info ] && echo 1 x && exit; echo a >&2; echo b >&2; exit 3"
    )
    with pytest.raises(PlacementError, match="^podman: b$"):
        find_engine().run("ps")
