"""select serves up to FD_SETSIZE descriptors and refuses further connections."""

import contextlib
from pathlib import Path

import pytest

from tests.servers import (
    RunningServer,
    ask_over,
    is_refusal,
    read_reply,
    rows_of,
    running,
)

FD_SETSIZE = 1024
CLIENTS = 1060


@pytest.fixture
def server(tmp_path: Path):
    with running(tmp_path, "--design", "select", "--work", "snapshot") as started:
        yield started


def open_clients(stack: contextlib.ExitStack, server: RunningServer) -> tuple[list, list]:
    """Returns the connections that are served and the replies to the others."""
    served, refused = [], []
    for connection in stack.enter_context(server.connect_many(CLIENTS)):
        with contextlib.suppress(ConnectionError):
            connection.sendall(b"top 1\n")
        reply = read_reply(connection)
        if reply.startswith(b"rank"):
            served.append(connection)
        else:
            refused.append(reply)
    return served, refused


def test_clients_beyond_the_limit_are_refused(server: RunningServer) -> None:
    with contextlib.ExitStack() as stack:
        served, refused = open_clients(stack, server)
        # The server itself needs about a dozen descriptors.
        assert FD_SETSIZE - 24 <= len(served) < FD_SETSIZE
        assert len(served) + len(refused) == CLIENTS
        for answer in refused:
            assert is_refusal(answer)
        for connection in served:
            assert len(rows_of(ask_over(connection))) == 2
    server.connect_when_there_is_room().close()
    assert server.stop()["errors"]["refused"] >= len(refused)
