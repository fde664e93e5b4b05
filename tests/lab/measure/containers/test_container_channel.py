"""The line to a program in a container."""

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from regatta.measure.places.containers.program import DialledChannel
from tests.e2e.racing import ROOT, needs_programs

DIAL = ROOT / "bin" / "regatta-dial"
ANSWER = "import os; os.write(3, b'ready\\n'); print(os.read(3, 9)); os.write(3, b'done\\n')"


@needs_programs
def test_a_program_finds_the_lab_however_long_the_folders_name_is(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    with closing(DialledChannel(folder, "client", DIAL)) as line:
        command = line.before([sys.executable, "-c", ANSWER])
        client = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE)
        near = line.wait_connected(time.monotonic() + 20, client.pid)
        assert near.recv(9) == b"ready\n"
        line.say("go")
        assert client.communicate()[0] == b"b'go\\n'\n"
        assert line.wait_connected(0, client.pid).recv(9) == b"done\n"
    assert list(folder.iterdir()) == []


def test_a_failed_engine_differs_from_a_program_that_never_connects(tmp_path: Path) -> None:
    with (
        closing(DialledChannel(tmp_path, "client", DIAL)) as line,
        subprocess.Popen(["sleep", "60"]) as engine,
    ):
        with pytest.raises(TimeoutError):
            line.wait_connected(time.monotonic() + 0.05, engine.pid)
        engine.kill()
        with pytest.raises(EOFError):
            line.wait_connected(time.monotonic() + 20, engine.pid)


@needs_programs
@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ([], 2, "usage: regatta-dial"),
        (["x" * 200, "/bin/true"], 2, "usage: regatta-dial"),
        (["nowhere", "/bin/true"], 127, "cannot connect to nowhere: No such file"),
    ],
)
def test_a_failed_connection_is_reported(
    arguments: list[str], status: int, words: str, tmp_path: Path
) -> None:
    done = subprocess.run([DIAL, *arguments], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == status
    assert words in done.stderr.decode()


@needs_programs
def test_a_program_that_cannot_be_run_is_named(tmp_path: Path) -> None:
    with closing(DialledChannel(tmp_path, "server", DIAL)) as line:
        done = subprocess.run(
            line.before(["/no/such"]), cwd=tmp_path, capture_output=True, check=False
        )
    assert done.returncode == 127
    assert b"cannot run /no/such: No such file or directory" in done.stderr
