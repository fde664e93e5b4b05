"""Runs a piece of Python as a user without any rights, as root or as whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.users import as_user

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534


def prefix() -> list[str]:
    return as_user(NOBODY) if os.geteuid() == 0 else []


def need_python() -> None:
    """Skips where another user may not run this Python, for instance below a closed home."""
    command = [*prefix(), sys.executable, "-c", "import regatta.cli.main"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        pytest.skip(f"a user without rights cannot run this Python: {run.stderr.strip()[-200:]}")


def need_user_namespaces() -> None:
    """Skips where the system forbids user namespaces to users."""
    command = [*prefix(), "unshare", "--user", "--map-root-user", "--net", "true"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        pytest.skip(f"user namespaces are not permitted here: {run.stderr.strip()}")


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*prefix(), sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
