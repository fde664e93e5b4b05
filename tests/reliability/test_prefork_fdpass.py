"""prefork-fdpass: children and clients that could be lost when a descriptor is passed."""

import select
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes import children, descriptor_limits, descriptors, tree
from tests.reliability.injection import Fault, attached
from tests.servers import (
    AS_US,
    RunningServer,
    Start,
    ask_over,
    is_refusal,
    read_all,
    read_reply,
    rows_of,
    starting,
)

WORKERS = 2
SEEN_TO_WAIT_S = 0.3


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    options = ("--design", "prefork-fdpass", "--work", "snapshot", *AS_US)
    with starting(tmp_path, *options) as start_one:
        yield lambda workers: start_one("--workers", str(workers))


def ask_all_workers(server: RunningServer) -> None:
    """Simultaneously, so that each worker serves one client."""
    with server.connect_many(WORKERS) as clients:
        for client in clients:
            assert len(rows_of(ask_over(client))) == 2


def test_a_child_that_cannot_say_at_once_that_it_is_free_is_not_lost(
    start: Start, tmp_path: Path
) -> None:
    server = start(WORKERS)
    second_send_fails = Fault("sendto", "ENOMEM", "2")
    with attached(tree(server.process.pid), tmp_path, second_send_fails) as trace:
        ask_all_workers(server)
        ask_all_workers(server)
    assert trace.injections == WORKERS
    ask_all_workers(server)
    assert server.stop()["workers_replaced"] == 0


def settled_child(server: RunningServer) -> int:
    """The only child, after it has served a client and closed inherited descriptors."""
    (child,) = children(server.process.pid)
    server.ask(b"top 2\n")
    return child


def test_a_client_is_refused_if_the_child_has_no_descriptor_for_it(start: Start) -> None:
    server = start(1)
    child = settled_child(server)
    used = descriptors(child)
    limit = next(n for n in range(len(used) + 1) if n not in used)
    with descriptor_limits({child: limit}), server.connect() as client:
        assert is_refusal(read_all(client))
    assert len(rows_of(server.ask(b"top 2\n"))) == 2
    assert server.stop()["errors"]["refused"] == 1


def test_a_client_waits_if_the_child_has_not_even_a_reserve_descriptor(
    start: Start,
) -> None:
    server = start(1)
    child = settled_child(server)
    with ExitStack() as stack:
        with descriptor_limits({child: 3}):
            client = stack.enter_context(server.connect())
            client.sendall(b"top 2\n")
            assert not select.select([client], [], [], SEEN_TO_WAIT_S)[0]
        assert len(rows_of(read_reply(client))) == 2
