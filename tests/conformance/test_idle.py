"""The idle timeout: whom it ends, what that client is told, and whom it leaves alone."""

import contextlib
import select
import selectors
import socket
import time

import pytest

from tests.dialects import HTTP, LINE
from tests.given import giving
from tests.processes import stopped
from tests.servers import ListedDesign, Start, read_all
from tests.sockets import wait_until_arrived

TIMEOUT_MS = 200
SOON_S = 5
"""Far longer than any of these timeouts, far shorter than the default of 30 s."""


def test_clients_that_keep_silent_are_closed_and_told_so_if_they_had_begun(
    start: Start, design: ListedDesign
) -> None:
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
            told = read_all(connection)
            assert told.startswith(ending)
            assert bool(told) == bool(ending)
        at_a_time = len(silent) if design.serves == "one" else 1
        assert 0.9 * TIMEOUT_MS / 1000 * at_a_time < time.monotonic() - begun < SOON_S
    assert server.stop()["errors"]["timeout"] == len(endings)


def test_a_client_that_was_answered_and_keeps_silent_is_closed_without_an_error(
    start: Start,
) -> None:
    server = start("--idle-timeout", str(TIMEOUT_MS), "--work", "snapshot")
    with server.connect() as connection:
        begun = time.monotonic()  # before the silence does: this test may be late itself
        connection.sendall(HTTP.request(2))
        assert len(HTTP.read_answer(connection)) == 2
        assert connection.recv(1) == b""
        assert 0.9 * TIMEOUT_MS / 1000 < time.monotonic() - begun < SOON_S
    assert sum(server.stop()["errors"].values()) == 0


def test_the_time_that_the_work_takes_is_not_a_silence_of_the_client(start: Start) -> None:
    """It takes longer than the idle timeout, which begins with the answer."""
    server = start("--idle-timeout", str(TIMEOUT_MS), "--work", f"wait={2 * TIMEOUT_MS}ms")
    with server.connect() as connection:
        begun = time.monotonic()
        connection.sendall(LINE.request(2))
        assert len(LINE.read_answer(connection)) == 2
        assert connection.recv(1) == b""
        assert 2.8 * TIMEOUT_MS / 1000 < time.monotonic() - begun < SOON_S


@pytest.mark.parametrize(("drop", "ending"), [(b"t", LINE.ending), (b"T", HTTP.ending)])
def test_a_request_that_comes_a_byte_at_a_time_is_ended(
    start: Start, drop: bytes, ending: bytes
) -> None:
    """No pause is as long as the idle timeout, and yet the request takes too long."""
    server = start("--idle-timeout", str(TIMEOUT_MS))
    with server.connect() as drip, selectors.DefaultSelector() as selector:
        selector.register(drip, selectors.EVENT_READ)
        begun = time.monotonic()
        while not selector.select(timeout=TIMEOUT_MS / 1000 / 8):
            drip.sendall(drop)
            assert time.monotonic() - begun < SOON_S, "it is still being waited for"
        assert read_all(drip).startswith(ending)


def test_a_client_that_asks_now_and_then_is_not_closed(start: Start) -> None:
    """Altogether longer than the timeout, with each pause well below it."""
    timeout_s, pause_s = 0.3, 0.05
    server = start("--idle-timeout", "300", "--work", "snapshot")
    with server.connect() as connection, selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        begun = asked = time.monotonic()
        while time.monotonic() - begun < 1.5 * timeout_s:
            if selector.select(pause_s):
                assert time.monotonic() - asked > timeout_s / 2
                pytest.skip("this machine made a pause too long: that proves nothing")
            asked = time.monotonic()
            connection.sendall(LINE.request(1))
            assert len(LINE.read_answer(connection)) == 1


def test_a_client_that_takes_no_replies_is_given_up(start: Start) -> None:
    """It is owed more than the buffers hold, and takes none of it."""
    server = start("--idle-timeout", str(TIMEOUT_MS), "--work", "snapshot")
    with server.connect(receive_buffer=1) as greedy:
        begun = time.monotonic()
        with pytest.raises(ConnectionError):
            greedy.sendall(HTTP.request(64) * 300_000)
        assert time.monotonic() - begun < SOON_S
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < SOON_S - 1, "something of it was left to drain"


@pytest.mark.parametrize("segment", [536, None], ids=["server", "kernel"])
def test_the_kernel_keeps_nothing_for_a_client_that_was_given_up(
    start: Start, segment: int | None
) -> None:
    """All that it asked has been read, so that to close would not reset it by itself; the replies
    wait in the server, or in a larger buffer of the kernel."""
    server = start("--idle-timeout", str(TIMEOUT_MS), "--work", "snapshot")
    with server.connect(receive_buffer=1, segment=segment) as greedy:
        with stopped(server.process.pid):
            greedy.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 25)
            wait_until_arrived(greedy)
        reset = select.poll()
        reset.register(greedy, 0)
        assert reset.poll(1000 * SOON_S), "its connection is still there"


@pytest.mark.usefixtures("many_processes")
def test_a_client_that_takes_its_replies_too_slowly_is_reset_though_it_always_takes_some(
    start: Start,
) -> None:
    """6 kB a second, in pieces that come as fast as buffers of a few kB empty: who waits for the
    next piece alone, waits to the end."""
    server = start("--idle-timeout", "400", "--work", "snapshot", prefix=giving(send_buffer=1))
    request = b"GET /top?n=64&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with server.connect(receive_buffer=1, segment=88) as slow:
        slow.sendall(5 * request)
        with pytest.raises(ConnectionError):
            take_slowly(slow, 6_000)
    assert server.stop()["errors"]["timeout"] == 1


def test_a_client_that_takes_its_replies_fast_enough_is_not_reset_however_many_they_are(
    start: Start,
) -> None:
    """Together they take longer than the timeout; they are answered in many batches."""
    timeout_s, requests, bytes_per_s = 0.4, 1300, 120_000
    server = start("--idle-timeout", "400", "--work", "snapshot", prefix=giving(send_buffer=1))
    with server.connect(receive_buffer=1) as steady:
        steady.sendall(LINE.request(1) * requests)
        steady.shutdown(socket.SHUT_WR)
        begun = time.monotonic()
        try:
            assert take_slowly(steady, bytes_per_s) > requests * len("rank\n")
        except ConnectionError:
            assert server.stop()["errors"]["timeout"] == 1
            raise
        assert time.monotonic() - begun > 1.5 * timeout_s, "that proves nothing"
    assert server.stop()["requests"] == requests


def take_slowly(connection: socket.socket, bytes_per_s: int) -> int:
    """All of it, to the end. Returns how many bytes there were."""
    begun = time.monotonic()
    taken = 0
    while piece := connection.recv(120):
        taken += len(piece)
        time.sleep(max(0, begun + taken / bytes_per_s - time.monotonic()))
    return taken


def test_clients_are_closed_while_others_are_busy(start: Start, design: ListedDesign) -> None:
    """An event loop that is never idle itself must see to the silent all the same."""
    if design.serves == "one":
        pytest.skip("it serves nobody while a client is silent")
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
