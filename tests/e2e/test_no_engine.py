"""A race in containers without a working container engine."""

import os
from pathlib import Path

import pytest

from tests.commands import assert_refused, run
from tests.e2e.racing import environment, needs_programs, regatta, study

pytestmark = [
    needs_programs,
    pytest.mark.skipif(os.geteuid() != 0, reason="other users are refused earlier"),
]
BOXES = '[placement]\nkind = "containers"\nserver_cpus = [0]\nclient_cpus = [0]\n'
CELLS = '[[cells]]\ndesigns = ["select"]\nconnections = 1\nrequests = 1\n'


def test_the_error_says_why_each_engine_does_not_work(tmp_path: Path) -> None:
    broken = tmp_path / "bin"
    broken.mkdir()
    for name in ("podman", "docker"):
        (broken / name).write_text(f"#!/bin/sh\necho '{name} is out of order' >&2\nexit 125\n")
        (broken / name).chmod(0o755)
    (tmp_path / "study.toml").write_text(study(BOXES + CELLS))
    settings = environment()
    settings["PATH"] = f"{broken}:{settings['PATH']}"
    done = run(*regatta("race", "study.toml"), cwd=tmp_path, env=settings, timeout=60)
    assert_refused(done, status=1, name="regatta")
    assert "no container engine works here (podman: podman is out of order; docker: " in done.stderr
    assert not (tmp_path / "races").exists()
