"""Programs that run to their end, and how those of ours refuse to."""

import re
import subprocess
from typing import Any

from tests.waiting import PATIENCE_S

Done = subprocess.CompletedProcess[str]


def run(*command: object, stdin: str = "", timeout: float = PATIENCE_S, **settings: Any) -> Done:
    """Whatever its status. What it printed is decoded as it is, carriage returns and all."""
    words = [str(word) for word in command]
    settings |= {"input": stdin.encode(), "capture_output": True, "timeout": timeout}
    done = subprocess.run(words, check=False, **settings)
    return Done(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def run_well(*command: object, **settings: Any) -> str:
    """It must end with status 0; returns what it printed."""
    done = run(*command, **settings)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def assert_refused(done: Done, status: int = 2, name: str = "regatta-server") -> None:
    """One line on stderr says why, and nothing is on stdout."""
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert re.fullmatch(rf"{name}: [^\n]+\n", done.stderr), done.stderr
