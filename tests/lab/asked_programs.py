"""Python programs that do what each line of their input says, and answer it with a line."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class Asked:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.pid = process.pid

    def do(self, what: str) -> str:
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


@contextmanager
def running(code: str) -> Iterator[Asked]:
    """Until the end of the block; it has answered once."""
    command = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            asked = Asked(process)
            asked.do("nothing")
            yield asked
        finally:
            process.kill()
