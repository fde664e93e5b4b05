"""Pools: workers that are stopped, that keep dying, or that are too many."""

import itertools
import os
import select
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import assert_refused, run
from tests.processes import (
    children,
    cpu_seconds,
    descriptor_limits,
    descriptors,
    is_gone,
    kill_all,
    state,
)
from tests.servers import (
    AS_US,
    PATIENCE_S,
    RunningServer,
    Start,
    ask_over,
    needs,
    program,
    read_all,
    rows_of,
    running,
    starting,
    table,
)
from tests.sockets import wait_until_arrived
from tests.users import UNUSED_UID, as_user, runnable_by_all
from tests.waiting import wait_until

PREFORK = [row.name for row in table() if row.name.startswith("prefork-")]
LOOPS = [row.name for row in table() if row.name in PREFORK and row.serves == "all"]
BLOCKING_POOLS = [row.name for row in table() if row.serves == "workers"]
SEEN_TO_SPIN_S = 0.5
"""Long enough to distinguish a server that spins from one that waits."""
REFILL_S = 1.0
"""Pause before a worker is replaced: processes.h, REFILL_MS."""


@pytest.fixture(params=PREFORK)
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    """Starts a server of a design with worker processes."""
    with starting(tmp_path, "--design", request.param, "--work", "snapshot") as start_one:
        yield start_one


def ask(connection: socket.socket) -> bool:
    """Whether the connection is still served."""
    try:
        return len(rows_of(ask_over(connection))) == 2
    except (ConnectionError, AssertionError):
        return False


def connect_beside(server: RunningServer, paused: list[int]) -> socket.socket:
    """To a worker that is none of these; a blocking one has a client anyway."""
    for worker in paused:
        os.kill(worker, signal.SIGSTOP)
        wait_until(lambda pid=worker: state(pid) == "T", "it does not stop")
    connection = server.connect()
    try:
        assert ask(connection)
    finally:
        for worker in paused:
            os.kill(worker, signal.SIGCONT)
    return connection


def test_stopping_one_worker_leaves_the_others_serving(
    start: Start, request: pytest.FixtureRequest
) -> None:
    """It closes its client between two replies. The others wait in accept as before, at no CPU
    cost."""
    server = start("--workers", "2")
    before = children(server.process.pid)
    has_loops = request.node.callspec.params["start"] in LOOPS
    apart = [[worker] if has_loops else [] for worker in before]
    with connect_beside(server, apart[0]) as first, connect_beside(server, apart[1]) as second:
        os.kill(before[0], signal.SIGTERM)
        closed, _, _ = select.select([first, second], [], [], PATIENCE_S)
        assert len(closed) == 1
        assert closed[0].recv(1) == b""
        assert ask(second if closed[0] is first else first)
        with server.connect() as third:
            assert ask(third), "it is not replaced"
    spent = cpu_seconds(server.process.pid)
    select.select([], [], [], SEEN_TO_SPIN_S)
    assert cpu_seconds(server.process.pid) - spent < SEEN_TO_SPIN_S / 4
    assert server.stop()["workers_replaced"] == 1


def test_a_worker_that_keeps_dying_is_replaced_with_a_pause(start: Start) -> None:
    server = start("--workers", "1")
    killed: set[int] = set()
    deadline = time.monotonic() + 2.5
    while time.monotonic() < deadline:
        workers = children(server.process.pid)
        kill_all(workers)
        killed.update(workers)
    assert 2 <= len(killed) <= 5
    assert len(rows_of(server.ask(b"top 2\n"))) == 2


@pytest.mark.parametrize("stops", [False, True])
def test_workers_that_died_without_free_descriptors_are_replaced_later(
    start: Start, stops: bool
) -> None:
    """Attempts meanwhile must cost hardly any CPU time, and do not keep it from being stopped."""
    server = start("--workers", "2", *AS_US)
    parent = server.process.pid
    workers, used = children(parent), descriptors(parent)
    lowest_free = next(number for number in itertools.count() if number not in used)
    with descriptor_limits({parent: lowest_free}):
        kill_all(workers)
        spent = cpu_seconds(parent)
        select.select([], [], [], REFILL_S + SEEN_TO_SPIN_S)
        assert cpu_seconds(parent) - spent < SEEN_TO_SPIN_S / 4
        if stops:
            server.stop()
    wait_until(lambda: len(children(parent)) == (0 if stops else 2), "they are not replaced")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_whole_process_group_is_a_drain(
    start: Start, number: signal.Signals
) -> None:
    """As sent by a supervisor or terminal. Here workers get it first, while ten clients are in the
    backlog."""
    server = start("--workers", "2")
    with server.connect_many(2) as busy, server.connect_many(10) as waiting:
        assert all(ask(client) for client in busy)
        for client in waiting:
            client.sendall(b"top 2\n")
        for client in waiting:
            wait_until_arrived(client)
        workers = children(server.process.pid)
        for worker in workers:
            os.kill(worker, number)
        if number == signal.SIGTERM:  # workers ignore Ctrl-C
            wait_until(lambda: all(map(is_gone, workers)), "they are still alive")
        server.process.send_signal(number)
        for client in waiting:
            assert len(rows_of(read_all(client))) == 2
        assert server.process.wait(PATIENCE_S) == 0
    assert server.stop()["requests"] == 12


@pytest.mark.parametrize("pool", BLOCKING_POOLS)
def test_more_workers_than_the_process_limit_allows_are_refused(pool: str) -> None:
    """The limit allows the server and three workers."""
    limit = 4 if os.geteuid() == 0 else 1
    user = as_user(UNUSED_UID) if os.geteuid() == 0 else []
    command = [*user, needs("prlimit"), f"--nproc={limit}"]
    command += [runnable_by_all(program("regatta-server")), "--design", pool]
    ended = run(*command, "--listen", "127.0.0.1:0")
    assert_refused(ended, status=1)
    assert ended.stderr.startswith(f"regatta-server: {pool}: ")
    assert "--workers" in ended.stderr
    assert run(needs("pgrep"), "--euid", UNUSED_UID).stdout == ""


@pytest.mark.parametrize("pool", BLOCKING_POOLS)
def test_there_are_no_more_workers_than_allowed_connections(pool: str, tmp_path: Path) -> None:
    with running(tmp_path, "--design", pool, "--max-connections", "2") as server:
        assert len(rows_of(server.ask(b"top 2\n"))) == 2
        assert len(server.stop()["workers"]) == 2
