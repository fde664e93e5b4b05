"""contenders/*: each that is built gives the same answers and behaves as a contender must."""

import http.client
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from regatta.record.study.contender import FILE, read_folders
from tests.commands import run
from tests.processes import MARK, is_gone, marked
from tests.servers import REPOSITORY
from tests.sockets import free_port, wait_until_accepting
from tests.waiting import wait_until

CONTENDERS = REPOSITORY / "contenders"
NAMES = sorted(file.parent.name for file in CONTENDERS.glob(f"*/{FILE}"))
HOST = "127.0.0.1"
TEXT, JSON = b"Hello, World!", b'{"message":"Hello, World!"}'
WAIT_S = 0.005
MANY = 200
ANSWER_TIMEOUT_S = 30.0
FOUND_ELSEWHERE = {"haproxy", "java-virtual-threads", "nginx"}
"""Toolchains outside PATH: in sbin folders, and in /usr/lib/jvm."""


class Running:
    """A contender that was started as a trial starts it."""

    def __init__(self, name: str, folder: Path) -> None:
        contender = read_folders(CONTENDERS, ())[name]
        if why := contender.missing(CONTENDERS):
            pytest.skip(why)
        self.port = free_port()
        self.mark = f"{os.getpid()}-{self.port}"
        self.output = folder / "output"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                contender.words(HOST, self.port, (), CONTENDERS),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, MARK: self.mark},
                start_new_session=True,
            )
        self.serves = contender.serves
        wait_until_accepting(self.process, self.port, HOST, self.output.read_text)

    def connection(self) -> http.client.HTTPConnection:
        found = http.client.HTTPConnection(HOST, self.port, timeout=ANSWER_TIMEOUT_S)
        found.connect()
        return found

    def leave(self) -> None:
        """nginx writes its workers' title where their mark was: they are found by their group."""
        for pid in marked(self.mark):
            os.kill(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(params=NAMES)
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Running]:
    found = Running(request.param, tmp_path)
    yield found
    found.leave()


def answer(
    connection: http.client.HTTPConnection, path: str, method: str = "GET"
) -> tuple[int, str | None, str | None, bytes]:
    """Status, type, length and body."""
    connection.request(method, path)
    reply = connection.getresponse()
    return (
        reply.status,
        reply.getheader("Content-Type"),
        reply.getheader("Content-Length"),
        reply.read(),
    )


def test_all_give_the_same_answers_over_one_connection_and_end_on_sigterm(running: Running) -> None:
    connection = running.connection()
    first = connection.sock
    assert answer(connection, "/plaintext") == (200, "text/plain", "13", TEXT)
    assert answer(connection, "/") == (200, "text/plain", "13", TEXT)
    assert answer(connection, "/json") == (200, "application/json", "27", JSON)
    assert answer(connection, "/json", "HEAD") == (200, "application/json", "27", b"")
    if running.serves is None:
        assert answer(connection, "/wait") == (200, "text/plain", "13", TEXT)
    assert answer(connection, "/none")[0] == 404
    assert connection.sock is first, "it closed the connection"

    with ExitStack() as stack:
        crowd = [running.connection() for _ in range(MANY)]
        for client in crowd:
            stack.callback(client.close)
        for client in crowd:
            assert answer(client, "/plaintext")[3] == TEXT

    assert running.process.poll() is None, "it left the foreground"
    running.process.send_signal(signal.SIGTERM)
    status = running.process.wait(ANSWER_TIMEOUT_S)
    assert status in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
    wait_until(lambda: not marked(running.mark), "its children survived")
    assert is_gone(running.process.pid)


def test_waits_run_concurrently(running: Running) -> None:
    """One after the other they would take a second, or two workers half of one."""
    if running.serves is not None:
        pytest.skip("it has no /wait")
    with ExitStack() as stack:
        crowd = [running.connection() for _ in range(MANY)]
        for client in crowd:
            stack.callback(client.close)
            answer(client, "/plaintext")
        start_s = time.monotonic()
        answer(crowd[0], "/wait")
        # Timers of Node count whole milliseconds.
        assert time.monotonic() - start_s >= WAIT_S - 0.001
        start_s = time.monotonic()
        for client in crowd:
            client.request("GET", "/wait")
        for client in crowd:
            assert client.getresponse().read() == TEXT
        assert time.monotonic() - start_s < MANY * WAIT_S / 2


def test_a_missing_toolchain_leaves_its_contender_out_with_the_command_that_installs_it(
    tmp_path: Path,
) -> None:
    for name in sorted(set(NAMES) - FOUND_ELSEWHERE):
        built = run(CONTENDERS / "build", name, env={"PATH": str(tmp_path)})
        assert built.stdout.startswith(f"{name} is left out: ")
        assert "; run: apt-get install " in built.stdout
        assert (built.stdout.count("\n"), built.stderr, built.returncode) == (1, "", 0)
