"""Fixtures shared by the laboratory's tests."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from regatta.measure.accounts.cgroup import ControlGroup, Home, find_home
from tests.lab import fake_programs
from tests.processes import MARK


@pytest.fixture
def programs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lab finds the fake programs, and what it starts bears the test's mark."""
    folder = tmp_path / "bin"
    fake_programs.install(folder)
    monkeypatch.setenv("REGATTA_BIN", str(folder))
    monkeypatch.setenv(MARK, str(tmp_path))
    return folder


@pytest.fixture
def home() -> Home:
    """Where control groups may be made."""
    found = find_home()
    if found is None:
        pytest.skip("control groups cannot be made here; run as root")
    return found


@pytest.fixture
def group(home: Home) -> Iterator[ControlGroup]:
    with closing(home.make()) as made:
        yield made
    assert not made.path.exists()


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """No trial of a test is disturbed by what else this machine does, unless it is about that."""
    if request.node.get_closest_marker("disturbed") is None:
        monkeypatch.setattr("regatta.measure.accounts.disturbance.too_much", lambda *_: None)
