"""A listener that outlives its servers: one after another serves on it, while clients ask."""

import contextlib
import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.metrics import samples
from tests.servers import PATIENCE_S, RunningServer, program, running
from tests.waiting import wait_until


class Service:
    """Holds the listener, as a service manager does, and has the server of the moment."""

    def __init__(self, stack: contextlib.ExitStack, folder: Path, *options: str) -> None:
        self._stack = stack
        self._folder = folder
        self._options = options
        self._started = 0
        self._listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=4096))
        self.server = self.start(*options)

    def start(self, *options: str) -> RunningServer:
        """One more, that serves beside those that run; it is stopped with the service."""
        self._started += 1
        folder = self._folder / f"server-{self._started}"
        folder.mkdir()
        return self._stack.enter_context(running(folder, *options, listener=self._listener))

    def upgrade(self) -> None:
        """The new server serves before the old one is told to stop."""
        old, self.server = self.server, self.start(*self._options)
        old.stop()

    def restart(self) -> None:
        """As systemd does it: clients wait in the queue until the new one serves."""
        self.server.stop()
        self.server = self.start(*self._options)


def wait_until_answered(server: RunningServer, requests: int) -> None:
    """By the one that serves at its address, which nobody serves beside."""

    asked = 0

    def answered() -> float:
        nonlocal asked
        asked += 1  # our own questions are requests too
        return sum(samples(server)["regatta_requests_total"].values()) - asked

    wait_until(lambda: answered() >= requests, "it is not asked")


@contextlib.contextmanager
def load(address: str, *options: str) -> Iterator[dict[str, Any]]:
    """Clients ask on and on during the block; after it the dictionary says what came of that."""
    told: dict[str, Any] = {}
    command = [program("regatta-client"), "--load", "closed", "--duration", "3600", "--json"]
    client = subprocess.Popen(
        [*command, *options, address], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        yield told
    finally:
        client.send_signal(signal.SIGINT)
        out, _ = client.communicate(timeout=PATIENCE_S)
    told |= json.loads(out)
