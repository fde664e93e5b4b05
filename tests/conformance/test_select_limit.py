"""select serves up to FD_SETSIZE descriptors and refuses the connection beyond."""

import contextlib
from pathlib import Path

import pytest

from tests.servers import (
    RunningServer,
    ask_over,
    is_refusal,
    read_all,
    read_reply,
    rows_of,
    running,
)

FD_SETSIZE = 1024
CROWD = 1060


@pytest.fixture
def server(tmp_path: Path):
    with running(tmp_path, "--design", "select", "--work", "snapshot") as started:
        yield started


def open_crowd(stack: contextlib.ExitStack, server: RunningServer) -> tuple[list, list]:
    """Opens CROWD connections; returns those that are served and the answers to the others."""
    served, refused = [], []
    for connection in stack.enter_context(server.crowd(CROWD)):
        with contextlib.suppress(ConnectionError):
            connection.sendall(b"top 1\n")
        reply = read_reply(connection)
        if reply.startswith(b"rank"):
            served.append(connection)
        else:
            refused.append(reply)
    return served, refused


def test_it_serves_to_the_limit_and_refuses_beyond(server: RunningServer) -> None:
    with contextlib.ExitStack() as stack:
        served, refused = open_crowd(stack, server)
        # A dozen descriptors are the server's own.
        assert FD_SETSIZE - 24 <= len(served) < FD_SETSIZE
        assert len(served) + len(refused) == CROWD
        for answer in refused:
            assert is_refusal(answer)
        for connection in served:
            assert len(rows_of(ask_over(connection))) == 2
    # All have left: there is room again as soon as that was noticed.
    server.connect_when_there_is_room().close()
    assert server.stop()["errors"]["refused"] >= len(refused)


def test_the_refusal_can_be_read_without_asking(server: RunningServer) -> None:
    with server.crowd(FD_SETSIZE) as crowd:
        assert is_refusal(read_all(crowd[-1]))
