"""One listening socket, served by a sequence of servers while clients keep asking."""

import contextlib
import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.e2e.scripted_servers import begin_client
from tests.metrics import samples
from tests.servers import PATIENCE_S, RunningServer, running
from tests.waiting import wait_until


class Service:
    """Holds the listener, as a service manager does, and the current server."""

    def __init__(self, stack: contextlib.ExitStack, folder: Path, *options: str) -> None:
        self._stack = stack
        self._folder = folder
        self._options = options
        self._started = 0
        self._listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=4096))
        self.server = self.start(*options)

    def start(self, *options: str) -> RunningServer:
        """Starts one more server next to those already running; it is stopped with the service."""
        self._started += 1
        folder = self._folder / f"server-{self._started}"
        folder.mkdir()
        return self._stack.enter_context(running(folder, *options, listener=self._listener))

    def upgrade(self) -> None:
        """Starts the new server before the old one is stopped."""
        old, self.server = self.server, self.start(*self._options)
        old.stop()

    def restart(self) -> None:
        """Stops the old server first, as systemd does: clients wait in the backlog meanwhile."""
        self.server.stop()
        self.server = self.start(*self._options)


def wait_until_answered(server: RunningServer, requests: int) -> None:
    """`server` must be the only one on its listener."""
    asked = 0

    def answered() -> float:
        nonlocal asked
        asked += 1  # each look at the metrics is a request too
        return sum(samples(server)["regatta_requests_total"].values()) - asked

    wait_until(lambda: answered() >= requests, "the server gets too few requests")


@contextlib.contextmanager
def load(address: str, *options: str) -> Iterator[dict[str, Any]]:
    """Clients send requests during the block. After it, the dictionary has their result."""
    result: dict[str, Any] = {}
    how = ("--load", "closed", "--duration", "3600", "--json")
    client = begin_client(*how, *options, address)
    try:
        yield result
    finally:
        client.send_signal(signal.SIGINT)
        out, _ = client.communicate(timeout=PATIENCE_S)
    result |= json.loads(out)
