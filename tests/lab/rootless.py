"""Runs Python code as an unprivileged user, as root or as the user of the tests."""

import os
import sys
from pathlib import Path

import pytest

from tests.commands import Done, run
from tests.users import as_user

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534


def prefix() -> list[str]:
    return as_user(NOBODY) if os.geteuid() == 0 else []


def need_python() -> None:
    """Skips if an unprivileged user cannot run this Python, for instance in a private home."""
    done = run_python("import regatta.verbs.main")
    if done.returncode != 0:
        pytest.skip(f"a user without rights cannot run this Python: {done.stderr.strip()[-200:]}")


def need_user_namespaces() -> None:
    """Skips if unprivileged user namespaces are not permitted."""
    done = run(*prefix(), "unshare", "--user", "--map-root-user", "--net", "true")
    if done.returncode != 0:
        pytest.skip(f"user namespaces are not permitted here: {done.stderr.strip()}")


def run_python(code: str, **environment: str) -> Done:
    command = (*prefix(), sys.executable, "-c", code)
    return run(*command, cwd=ROOT, env={**os.environ, **environment}, timeout=120)
