"""The gate: a client begins when it is told, to the moment where a moment is told."""

import time

import pytest

from tests.e2e.scripted import LINE_REPLY, Gated, always, serving

LONG_NS = 300_000_000


def test_a_client_begins_at_the_moment_that_it_is_told() -> None:
    with serving(always(LINE_REPLY)) as server:
        gated = Gated(server, "--load closed --duration 0.1")
        at_ns = time.monotonic_ns() + LONG_NS
        gated.outside.sendall(f"go {at_ns}\n".encode())
        result = gated.result()
    assert at_ns <= result["began_ns"] < at_ns + 5e9
    assert result["answered"] > 0


def test_a_moment_that_has_passed_is_now() -> None:
    with serving(always(LINE_REPLY)) as server:
        gated = Gated(server)
        told_ns = time.monotonic_ns()
        gated.outside.sendall(b"go 1\n")
        result = gated.result()
    assert told_ns <= result["began_ns"] < told_ns + 5e9


@pytest.mark.parametrize("line", ["go soon", "go -1", "go 9223372036854775808", "go 12 "])
def test_what_is_no_moment_is_refused(line: str) -> None:
    with serving(always(LINE_REPLY)) as server:
        gated = Gated(server)
        gated.outside.sendall(f"{line}\n".encode())
        out, _ = gated.process.communicate(timeout=20)
        gated.outside.close()
    assert (out, gated.process.returncode) == (b"", 1)


def test_a_client_that_waits_for_its_moment_can_be_stopped() -> None:
    with serving(always(LINE_REPLY)) as server:
        gated = Gated(server)
        gated.outside.sendall(f"go {time.monotonic_ns() + 3600 * 10**9}\n".encode())
        gated.process.terminate()
        gated.process.communicate(timeout=20)
        gated.outside.close()
    assert gated.process.returncode == 1
