"""The canary answers each byte on stdin with a measurement and ends with its input."""

import os
import subprocess

import pytest

from tests.commands import run
from tests.servers import program

CPU = str(min(os.sched_getaffinity(0)))


@pytest.mark.parametrize("cpus", [CPU, ",".join(map(str, sorted(os.sched_getaffinity(0))))])
def test_each_byte_is_answered_with_two_times(cpus: str) -> None:
    answer = run(program("regatta-canary"), cpus, stdin="???")
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = [[int(word) for word in line.split()] for line in answer.stdout.splitlines()]
    assert len(lines) == 3
    for low, median in lines:
        # Between 0.5 and 100 GHz. It is CPU time, so other processes matter little.
        assert 1_000 < low <= median < 1_000_000_000


def test_it_measures_on_each_of_its_cpus() -> None:
    cpus = sorted(os.sched_getaffinity(0))[:8]
    command = [program("regatta-canary"), ",".join(map(str, cpus))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as canary:
        for _ in range(2):
            canary.stdin.write(b"?")
            canary.stdin.flush()
            assert canary.stdout.readline()
            assert os.sched_getaffinity(canary.pid) == {cpus[-1]}


@pytest.mark.parametrize("cpus", ["", "x", "0,", "-1", "3-1"])
def test_an_invalid_list_of_cpus_is_refused(cpus: str) -> None:
    answer = run(program("regatta-canary"), cpus, stdin="?")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "is not a list of CPUs" in answer.stderr
