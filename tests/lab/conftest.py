"""What the laboratory's tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The package is not installed in a clone: the tests find it as bin/regatta does.
sys.path.insert(0, str(ROOT))


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """No trial of a test is disturbed by what else this machine does, unless it is about that."""
    if request.node.get_closest_marker("disturbed") is None:
        monkeypatch.setattr("regatta.machine.disturbance.too_much", lambda *_: None)
