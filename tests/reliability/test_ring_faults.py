"""The rings' own operations fail: accept, receive, send, the wait for clients, the timer.

As with system calls (test_faults.py), the server has 40 clients meanwhile and must be as before
afterwards. Where an error costs no client anything, every request must have been answered."""

from pathlib import Path

import pytest

from tests.reliability.cases import is_wanted
from tests.reliability.injection import Fault, Tally
from tests.reliability.ring_faults import (
    MOMENTS,
    OF_TIMER,
    RING_ERRORS,
    RINGS,
    TESTED,
    failing,
    serving_on_rings,
)
from tests.reliability.serving_faults import WORKERS, endure_all
from tests.reliability.state import ask_ten, at_once
from tests.servers import ListedDesign, read_all
from tests.waiting import wait_until

A_FEW = (
    Fault("accept", "EMFILE", "1"),
    Fault("accept", "ENOMEM", "3+3"),
    Fault("accept undone", "ECONNABORTED", "10+10"),
    Fault("listen", "ENOMEM", "3+3"),
    Fault("receive", "ENOBUFS", "3+3"),
    Fault("receive", "ECANCELED", "10+10"),
    Fault("receive undone", "ECONNRESET", "10+10"),
    Fault("send", "EAGAIN", "3+3"),
    Fault("send", "ENOMEM", "10+10"),
    Fault("send slowly", "EINTR", "3+3"),
    Fault("send slowly", "ECONNRESET", "10+10"),
    Fault("timer", "ENOMEM", "1"),
)

NEVER_FAILS = Fault("receive", "ENOMEM", "1000000")
BUFFER_BYTES = 1024

pytestmark = pytest.mark.skipif(not RINGS, reason="no design on io_uring can run here")
on_each_ring = pytest.mark.parametrize("ring", RINGS, ids=lambda design: design.name)


def is_polled(ring: ListedDesign) -> bool:
    return ring.name == "uring-sqpoll"


def endure_on_rings(design: ListedDesign, folder: Path, faults: list[Fault]) -> Tally:
    tally = Tally()
    endure_all(design, folder, faults, tally, start=serving_on_rings)
    return tally


@on_each_ring
def test_operations_that_fail_harm_no_later_client(ring: ListedDesign, tmp_path: Path) -> None:
    wanted = [fault for fault in A_FEW if fault.call != "send" or not is_polled(ring)]
    tally = endure_on_rings(ring, tmp_path, wanted)
    assert (tally.failures, tally.tried) == ([], len(wanted))


@pytest.mark.long
@on_each_ring
@pytest.mark.parametrize("operation", RING_ERRORS)
def test_it_recovers_from_any_failed_operation(
    ring: ListedDesign, operation: str, tmp_path: Path
) -> None:
    """The first, every third, every tenth."""
    if operation == "send" and is_polled(ring):
        pytest.skip("it sends as others do to a full socket")
    faults = [
        Fault(operation, error, when)
        for error in RING_ERRORS[operation]
        for when in (OF_TIMER if operation == "timer" else MOMENTS)
    ]
    wanted = list(filter(is_wanted, faults))
    tally = endure_on_rings(ring, tmp_path, wanted)
    assert (tally.failures, tally.tried) == ([], len(wanted))


@on_each_ring
@pytest.mark.parametrize(
    "fault",
    [Fault("stop", "ENOMEM", "1"), *(Fault("cancel", "ENOMEM", when) for when in ("1", "1+1"))],
    ids=str,
)
def test_it_stops_though_it_can_neither_watch_for_the_stop_nor_cancel_its_accept(
    ring: ListedDesign, fault: Fault, tmp_path: Path
) -> None:
    """No further client comes, which would end the accept."""
    with failing(ring, tmp_path, fault) as (server, faults):
        assert ask_ten(server, at_once(ring, WORKERS)) is None
    assert faults.failed(TESTED) >= 1


@on_each_ring
def test_a_long_head_gets_one_buffer_in_a_turn(ring: ListedDesign, tmp_path: Path) -> None:
    """Multishot receives of a few such clients would take the buffers of all others."""
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: "
    with failing(ring, tmp_path, NEVER_FAILS, workers=1) as (server, faults):
        client = server.connect()
        client.sendall(head.ljust(6 * BUFFER_BYTES, b"x"))
        wait_until(lambda: faults.submitted(TESTED) == 7, "it does not wait for the rest")
        client.sendall(b"\r\n\r\n")
        assert read_all(client).startswith(b"HTTP/1.1 200 ")
