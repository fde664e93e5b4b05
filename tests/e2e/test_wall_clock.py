"""Durations never use the wall clock, which may be set: it is only for timestamps."""

import datetime
import signal
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.answers import SOURCE
from tests.conformance.preload import preloaded
from tests.e2e.scripted_servers import ENGINES, begin_client, errors, result_of, serving, silent
from tests.servers import RunningServer, ask_over, designs, running
from tests.waiting import wait_until

ENDS_WITHIN_S = 5.0
"""Less than the silent server waits for its clients."""


@pytest.fixture
def _moving_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """All programs that the test starts find the clock set each quarter of a second."""
    monkeypatch.setenv("LD_PRELOAD", preloaded("moving_clock", Path(__file__).parent))


def days_off(connection: socket.socket) -> int:
    """By how many days the server takes the time wrongly."""
    line = ask_over(connection).decode().splitlines()[-2]
    found = SOURCE.fullmatch(line)
    taken = datetime.datetime.fromisoformat(found[5])
    return round((taken - datetime.datetime.now(datetime.UTC)) / datetime.timedelta(days=1))


def check_the_load_is_answered(server: RunningServer, load: str, engine: str) -> None:
    timeout_ms = 3000  # longer than a busy machine delays a request, shorter than the clock moves
    result, status = result_of(server, f"{load} --duration 0.6 --timeout {timeout_ms}", engine)
    assert (status, result["errors"]) == (0, errors())
    assert result["requests"] == result["answered"] > 10
    assert result["latency_ns"]["max"] < timeout_ms * 1e6


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
def test_while_the_clock_is_set_again_and_again_a_client_that_waits_can_be_stopped() -> None:
    """It has waited for a while: longer than the clock keeps one time."""
    with serving(silent) as server, ExitStack() as stack:
        load = ("-c", "4", "--load", "closed", "--duration", "600", "--timeout", "600000")
        clients = {}
        for engine in ENGINES:
            clients[engine] = begin_client("--engine", engine, *load, server.address)
            stack.enter_context(clients[engine])
            stack.callback(clients[engine].kill)
        time.sleep(1)
        assert [engine for engine, client in clients.items() if client.poll() is not None] == []
        for client in clients.values():
            client.send_signal(signal.SIGTERM)
        for client in clients.values():
            client.wait(ENDS_WITHIN_S)
