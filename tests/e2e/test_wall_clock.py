"""Durations never use the wall clock, which may be set: it is only for timestamps."""

import datetime
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.conformance.preload import preloaded
from tests.e2e.scripted_servers import ENGINES, errors, result_of, serving
from tests.servers import SOURCE, RunningServer, ask_over, designs, program, running
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
READS = r"CLOCK_REALTIME|\bgettimeofday\(|\btime\(NULL\)|\bclock_unix_ns\(\)"
MAY_READ = {
    "base/clock.c",  # clock_unix_ns
    "service/top/scan.c",  # when a snapshot was taken
    "server/stats.c",  # when the server started
    "service/exchange/http_reply.c",  # the header Date
    "watch/plain.c",  # the time above a table
    "watch/screen.c",
    "programs/regatta_client.c",  # the offset from a sample's clock to the wall clock
}
READS_IN_PYTHON = r"(\btime\.|(?<![\w.]))time(_ns)?\(\)|datetime\.now|\.today\("
MAY_READ_IN_PYTHON = {
    "record/files.py",  # created_at
    "record/write.py",  # finished_at
    "measure/trial/trial.py",  # started_at
    "measure/trial/start_up.py",  # the shell's only clock; a clock that is set meanwhile is noticed
    "measure/race/find_rates.py",  # started_at
    "measure/race/sittings.py",  # started_at
    "measure/trial/answers.py",  # finds the present time in an answer, which varies
    "checks/calibrate/run.py",  # taken_at
    "checks/doctor/hosts.py",  # on a host whose clock is behind a certificate is not valid yet
}

ENDS_WITHIN_S = 5.0
"""Less than the silent server waits for its clients."""


def readers(folder: str, ending: str, reads: str) -> set[str]:
    root = ROOT / folder
    return {
        str(path.relative_to(root))
        for path in root.rglob(f"*{ending}")
        if re.search(reads, re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL))
    }


def test_the_programs_read_it_for_timestamps_only() -> None:
    assert readers("src", ".c", READS) == MAY_READ


def test_the_lab_reads_it_for_timestamps_only() -> None:
    assert readers("regatta", ".py", READS_IN_PYTHON) == MAY_READ_IN_PYTHON


@pytest.fixture
def _moving_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """All programs that the test starts find the clock set each quarter of a second."""
    monkeypatch.setenv("LD_PRELOAD", preloaded("moving_clock", Path(__file__).parent))


def days_off(connection: socket.socket) -> int:
    """By how many days the server takes the time wrongly."""
    line = ask_over(connection).decode().splitlines()[-2]
    found = SOURCE.fullmatch(line)
    assert found is not None
    taken = datetime.datetime.fromisoformat(found[5])
    return round((taken - datetime.datetime.now(datetime.UTC)) / datetime.timedelta(days=1))


def check_the_load_is_answered(server: RunningServer, load: str, engine: str) -> None:
    result, status = result_of(server, f"{load} --duration 1 --timeout 3000", engine)
    assert (status, result["errors"]) == (0, errors())
    assert result["requests"] == result["answered"] > 10
    assert result["latency_ns"]["max"] < 1e9


@pytest.mark.usefixtures("_moving_clock")
@pytest.mark.parametrize("design", designs())
def test_while_the_clock_is_set_again_and_again_every_request_is_answered_in_time(
    design: str, tmp_path: Path
) -> None:
    options = ("--design", design, "--max-age", "0", "--idle-timeout", "10000")
    with running(tmp_path, *options) as server:
        with server.connect() as kept:
            for days in (-1, 0, 1):
                wait_until(lambda days=days: days_off(kept) == days, "the clock is not set")
        check_the_load_is_answered(server, "-c 1 --load closed", "epoll")


@pytest.mark.usefixtures("_moving_clock")
@pytest.mark.parametrize("engine", ENGINES)
def test_while_the_clock_is_set_again_and_again_each_engine_keeps_time(
    engine: str, tmp_path: Path
) -> None:
    with running(tmp_path, "--design", "epoll") as server:
        check_the_load_is_answered(server, "-c 4 --load closed", engine)


@pytest.mark.usefixtures("_moving_clock")
@pytest.mark.parametrize("engine", ENGINES)
def test_while_the_clock_is_set_again_and_again_a_client_that_waits_can_be_stopped(
    engine: str,
) -> None:
    """It has waited for a while: longer than the clock keeps one time."""
    with serving(lambda connection, _: drop_all(connection)) as silent:
        client = subprocess.Popen(
            [
                *(program("regatta-client"), "--quiet", "--engine", engine, "-c", "4"),
                *("--load", "closed", "--duration", "600", "--timeout", "600000", silent.address),
            ],
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        with pytest.raises(subprocess.TimeoutExpired):
            client.wait(1)
        client.send_signal(signal.SIGTERM)
        try:
            client.wait(ENDS_WITHIN_S)
        finally:
            client.kill()
            client.wait()


def drop_all(connection: socket.socket) -> None:
    """Reads, and never replies."""
    while connection.recv(4096):
        pass
