"""Run programs to completion, and check how ours reject bad options."""

import re
import subprocess
from typing import Any

from tests.waiting import PATIENCE_S

Done = subprocess.CompletedProcess[str]


def run(*command: object, stdin: str = "", timeout: float = PATIENCE_S, **settings: Any) -> Done:
    """Any exit status is accepted. Output is decoded unchanged, carriage returns included."""
    words = [str(word) for word in command]
    settings |= {"input": stdin.encode(), "capture_output": True, "timeout": timeout}
    done = subprocess.run(words, check=False, **settings)
    return Done(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def run_well(*command: object, **settings: Any) -> str:
    """The program must exit with status 0. Returns its stdout."""
    done = run(*command, **settings)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def assert_refused(done: Done, status: int = 2, name: str = "regatta-server") -> None:
    """The program exited with one line of reason on stderr and nothing on stdout."""
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert re.fullmatch(rf"{name}: [^\n]+\n", done.stderr), done.stderr
