"""The idle timeout: which clients it closes, their last reply, and which it must not close."""

import contextlib
import select
import selectors
import socket
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.dialects import HTTP, LINE
from tests.every_design import all_at_once
from tests.processes import stopped
from tests.servers import ListedDesign, Start, read_all, running
from tests.sockets import wait_until_arrived

TIMEOUT_MS = 200
SOON_S = 5
"""Far longer than the timeouts here, far shorter than the default of 30 s."""
SLOWEST_BYTES_PER_S = 32 * 1024
"""A client that reads slower than this may be reset."""


def test_idle_clients_are_closed_with_an_error_if_their_request_is_unfinished(
    start: Start, design: ListedDesign
) -> None:
    """That of a client which has been answered is none."""
    server = start("--idle-timeout", str(TIMEOUT_MS), "--work", "snapshot")
    endings = {
        b"": b"",
        b"to": LINE.ending + b"the request took too long\n\n",
        b"GET /top HTTP/1.1\r\n": b"HTTP/1.1 408 ",
    }
    with contextlib.ExitStack() as stack:
        begun = time.monotonic()
        silent = [(stack.enter_context(server.connect()), ending) for ending in endings.values()]
        for (connection, _), beginning in zip(silent, endings, strict=True):
            connection.sendall(beginning)
        for connection, ending in silent:
            reply = read_all(connection)
            assert reply.startswith(ending)
            assert bool(reply) == bool(ending)
        at_a_time = len(silent) if design.serves == "one" else 1
        assert 0.9 * TIMEOUT_MS / 1000 * at_a_time < time.monotonic() - begun < SOON_S
    with server.connect() as connection:
        begun = time.monotonic()  # before the idle time starts: this test may be delayed itself
        connection.sendall(HTTP.request(2))
        assert len(HTTP.read_answer(connection)) == 2
        assert connection.recv(1) == b""
        assert 0.9 * TIMEOUT_MS / 1000 < time.monotonic() - begun < SOON_S
    found = server.stop()["errors"]
    assert (found["timeout"], sum(found.values())) == (len(endings), len(endings))


def test_the_work_does_not_count_as_idle_time(start: Start) -> None:
    """The work takes longer than the timeout, which starts with the reply."""
    server = start("--idle-timeout", str(TIMEOUT_MS), "--work", f"wait={3 * TIMEOUT_MS // 2}ms")
    with server.connect() as connection:
        begun = time.monotonic()
        connection.sendall(LINE.request(2))
        assert len(LINE.read_answer(connection)) == 2
        assert connection.recv(1) == b""
        assert 2.4 * TIMEOUT_MS / 1000 < time.monotonic() - begun < SOON_S


@pytest.mark.parametrize(
    ("drop", "ending"),
    [(b"t", LINE.ending), (b"T", HTTP.ending), (b"\r\n", LINE.ending)],
    ids=["line", "http", "empty lines"],
)
def test_a_request_that_drips_in_is_cut_off(start: Start, drop: bytes, ending: bytes) -> None:
    """No pause reaches the timeout, but the whole request takes longer."""
    server = start("--idle-timeout", str(TIMEOUT_MS))
    with server.connect() as drip, selectors.DefaultSelector() as selector:
        selector.register(drip, selectors.EVENT_READ)
        begun = time.monotonic()
        drip.sendall(drop)  # at once: before a request begins, the connection is just idle
        while not selector.select(timeout=TIMEOUT_MS / 1000 / 8):
            drip.sendall(drop)
            assert time.monotonic() - begun < SOON_S, "the server still waits for it"
        assert read_all(drip).startswith(ending)


def test_a_client_with_short_pauses_is_not_closed(start: Start) -> None:
    """In total longer than the timeout, but each pause is well below it."""
    timeout_s, pause_s = 0.3, 0.05
    server = start("--idle-timeout", "300", "--work", "snapshot")
    with server.connect() as connection, selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        begun = asked = time.monotonic()
        while time.monotonic() - begun < 1.5 * timeout_s:
            if selector.select(pause_s):
                assert time.monotonic() - asked > timeout_s / 2
                pytest.skip("the machine stretched a pause beyond the timeout")
            asked = time.monotonic()
            connection.sendall(LINE.request(1))
            assert len(LINE.read_answer(connection)) == 1


def test_a_client_that_reads_nothing_is_reset(start: Start) -> None:
    """Its pending replies exceed the buffers."""
    server = start("--idle-timeout", str(TIMEOUT_MS), "--work", "snapshot")
    with server.connect(receive_buffer=1) as greedy:
        begun = time.monotonic()
        with pytest.raises(ConnectionError):
            greedy.sendall(HTTP.request(64) * 300_000)
        assert time.monotonic() - begun < SOON_S
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < SOON_S - 1, "its output was still being drained"


@pytest.mark.parametrize("segment", [536, None], ids=["server", "kernel"])
def test_the_kernel_keeps_no_output_of_a_reset_client(start: Start, segment: int | None) -> None:
    """All its requests have been read, so that a plain close would not reset the connection. The
    replies wait in the server or in the kernel's send buffer."""
    server = start("--idle-timeout", str(TIMEOUT_MS), "--work", "snapshot")
    with server.connect(receive_buffer=1, segment=segment) as greedy:
        with stopped(server.process.pid):
            greedy.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 25)
            wait_until_arrived(greedy)
        reset = select.poll()
        reset.register(greedy, 0)
        assert reset.poll(1000 * SOON_S), "the connection still exists"


@pytest.mark.usefixtures("many_processes")
def test_a_client_that_reads_too_slowly_is_reset(
    tmp_path: Path, small_buffers: Callable[[], socket.socket]
) -> None:
    """6 kB a second through buffers of a few kB. Each piece makes progress, so that a timeout for
    the next piece alone would never expire."""
    request = b"GET /top?n=64&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    options = ("--idle-timeout", "400", "--work", "snapshot")

    def check(design: ListedDesign, folder: Path) -> None:
        listener = small_buffers()
        with (
            running(folder, "--design", design.name, *options, listener=listener) as server,
            server.connect(receive_buffer=1, segment=88) as slow,
        ):
            slow.sendall(1000 * request)
            with pytest.raises(ConnectionError):
                take_slowly(slow, 6_000, [])
            assert server.stop()["errors"]["timeout"] == 1

    all_at_once(check, tmp_path)


def test_a_client_that_reads_fast_enough_is_not_reset_however_long_it_takes(
    start: Start, small_buffers: Callable[[], socket.socket]
) -> None:
    """Reading takes longer than the timeout; the requests are answered in many batches."""
    timeout_s, requests, bytes_per_s = 0.4, 650, 120_000
    server = start("--idle-timeout", "400", "--work", "snapshot", listener=small_buffers())
    with server.connect(receive_buffer=1) as steady:
        steady.sendall(LINE.request(1) * requests)
        steady.shutdown(socket.SHUT_WR)
        begun = time.monotonic()
        reads = [(begun, b"")]
        try:
            take_slowly(steady, bytes_per_s, reads)
        except ConnectionError:
            assert server.stop()["errors"]["timeout"] == 1
            times = [at for at, _ in reads] + [time.monotonic()]
            longest_pause_s = max(later - at for at, later in pairwise(times))
            rate = size_of(reads) / (times[-1] - begun)
            if rate < 2 * SLOWEST_BYTES_PER_S or longest_pause_s > timeout_s / 4:
                pytest.skip("this machine was too busy to read fast enough")
            raise
        assert size_of(reads) > requests * len("rank\n")
        assert time.monotonic() - begun > 1.5 * timeout_s, "it ended before the timeout"
    assert server.stop()["requests"] == requests


def take_slowly(
    connection: socket.socket, bytes_per_s: int, reads: list[tuple[float, bytes]]
) -> None:
    """Reads to the end at this rate, into `reads`: when, and what."""
    begun, taken = time.monotonic(), 0
    while piece := connection.recv(120):
        reads.append((time.monotonic(), piece))
        taken += len(piece)
        time.sleep(max(0, begun + taken / bytes_per_s - time.monotonic()))


def size_of(reads: list[tuple[float, bytes]]) -> int:
    return sum(len(piece) for _, piece in reads)


def test_idle_clients_are_closed_while_others_are_busy(start: Start, design: ListedDesign) -> None:
    """A loop that never waits must still check its idle clients."""
    if design.serves == "one":
        pytest.skip("it serves one client at a time")
    server = start("--idle-timeout", str(TIMEOUT_MS), "--work", "snapshot")
    with server.connect() as silent, server.connect() as busy:
        silent.setblocking(False)
        begun = time.monotonic()
        while True:
            busy.sendall(LINE.request(1))
            assert len(LINE.read_answer(busy)) == 1
            with contextlib.suppress(BlockingIOError):
                assert silent.recv(1, socket.MSG_DONTWAIT) == b""
                break
            assert time.monotonic() - begun < SOON_S, "it is still open"


CLIENTS, CLIENTS_OF_THEIR_OWN = 600, 40
"""More than any loop handles after one wait. The designs with a process or a thread per client make
them while the first ones are idle already, so they get fewer."""
LATE_S = 1.5
BEGINNING, REST = LINE.request(1)[:2], LINE.request(1)[2:]


def test_requests_that_arrived_in_time_are_answered_however_late(
    start: Start, design: ListedDesign
) -> None:
    """A server that could not read for longer than the idle timeout (a long scan, a paused machine)
    is late, not its clients. Half of them have begun their request before."""
    alone = design.name.endswith("-per-client")
    every = CLIENTS_OF_THEIR_OWN if alone else CLIENTS
    count = {"all": every, "workers": 2, "one": 1}[design.serves]
    late_s = LATE_S if design.serves == "all" else 0.4  # to make many clients takes a while
    timeout_ms = round(1000 * late_s)
    workers = design.workers(1) if design.serves == "all" else ()
    server = start("--idle-timeout", str(timeout_ms), *workers, "--work", "snapshot")
    with server.connect_many(count) as clients:
        for client in clients:
            client.sendall(LINE.request(1))
        for client in clients:
            assert len(LINE.read_answer(client)) == 1
        begun = clients[::2]
        for client in begun:
            client.sendall(BEGINNING)
        with stopped(server.process.pid):
            for client in clients:
                client.sendall(REST if client in begun else BEGINNING + REST)
            for client in clients:
                wait_until_arrived(client)
            time.sleep(late_s)
        for client in clients:
            assert len(LINE.read_answer(client)) == 1
    assert server.stop()["errors"]["timeout"] == 0
