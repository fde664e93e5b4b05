"""--gate-fd: a client starts its load when told, immediately or at a given time."""

import socket
import time

import pytest

from tests.e2e.scripted_servers import LINE_REPLY, Gated, always, once, refusal, serving
from tests.sockets import established

LONG_NS = 300_000_000


def test_the_load_runs_between_the_lines_of_the_gate(engine: str) -> None:
    with serving(once(LINE_REPLY)) as server:
        gated = Gated(server, f"--engine {engine} -c 5")
        time.sleep(0.1)
        assert server.accepted == 0
        gated.go()
        assert gated.outside.recv(100) == b"done\n"
        assert server.accepted == 5
        time.sleep(0.1)
        assert gated.process.poll() is None
        result = gated.end()
    assert gated.process.returncode == 0
    assert result["answered"] == 5


def test_idle_connections_outlive_the_window() -> None:
    """Closing them is no part of the load: a server would be charged for it."""
    with serving(always(LINE_REPLY)) as server:
        gated = Gated(server, "--load closed --duration 0.1 -c 2 --idle 7")
        gated.go()
        assert gated.outside.recv(100) == b"done\n"
        assert established(int(server.address.rpartition(":")[2])) == 7
        gated.end()


def test_a_gate_that_is_closed_prevents_the_load() -> None:
    outside, inside = socket.socketpair()
    with serving(once(LINE_REPLY)) as server, inside:
        outside.close()
        gate = inside.fileno()
        message = refusal("--gate-fd", str(gate), server.address, status=1, pass_fds=[gate])
        assert server.accepted == 0
    assert "the gate was not opened" in message


def test_a_client_starts_at_the_given_time() -> None:
    with serving(always(LINE_REPLY)) as server:
        gated = Gated(server, "--load closed --duration 0.1")
        at_ns = time.monotonic_ns() + LONG_NS
        gated.outside.sendall(f"go {at_ns}\n".encode())
        result = gated.result()
    assert at_ns <= result["began_ns"] < at_ns + 5e9
    assert result["answered"] > 0


@pytest.mark.parametrize("line", ["go soon", "go -1", "go 9223372036854775808", "go 12 "])
def test_an_invalid_time_is_refused(line: str) -> None:
    with serving(always(LINE_REPLY)) as server:
        gated = Gated(server)
        gated.outside.sendall(f"{line}\n".encode())
        out, _ = gated.process.communicate(timeout=20)
        gated.outside.close()
    assert (out, gated.process.returncode) == (b"", 1)
