"""Helpers for --watch: scripted hosts, with and without a terminal."""

import contextlib
import json
import os
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.commands import Done, run
from tests.e2e.scripted_servers import http, read_request
from tests.e2e.terminal import Terminal, in_terminal
from tests.servers import RunningServer, program, running

CLIENT = program("regatta-client")
Pair = tuple[RunningServer, RunningServer]
"""Two servers, as if on two hosts."""


def row(rank: int, name: str, **changes: Any) -> dict[str, Any]:
    return {
        "rank": rank,
        "pid": 4000 + rank,
        "name": name,
        "user_seconds": 9.98,
        "system_seconds": 0.02,
        **changes,
    }


def answer(*names: str, **changes: Any) -> dict[str, Any]:
    """A reply of regatta-server by=recent."""
    return {
        "host": "alpha",
        "taken_at": 1795269292.048987,
        "age_ms": 40,
        "source": "procfs",
        "source_reason": "not permitted to use BPF",
        "tasks_seen": 75,
        "tasks_lost": 1,
        "by": "recent",
        "group": None,
        "elapsed_seconds": 10.0,
        "processes": [row(rank, name) for rank, name in enumerate(names, start=1)],
        "rest": {"user_seconds": 1.25, "system_seconds": 0.5, "processes": 73},
        **changes,
    }


def body(content: dict[str, Any]) -> bytes:
    return http(json.dumps(content).encode(), headers=b"Connection: close\r\n")


class ScriptedServer:
    """A handler that always sends the same reply and records targets and Host headers."""

    def __init__(self, reply: bytes) -> None:
        self.reply = reply
        self.targets: list[str] = []
        self.hosts: list[str] = []

    def __call__(self, connection: socket.socket, _number: int) -> None:
        request = read_request(connection)
        if not request:
            return
        self.targets.append(request.split()[1].decode())
        named = re.search(rb"\r\nHost: (.*)\r\n", request)
        self.hosts.append(named[1].decode() if named else "")
        connection.sendall(self.reply)


def watch(*options: str, **environment: str) -> Done:
    """Runs --watch without a terminal."""
    utf_8 = {**os.environ, "LC_ALL": "C.UTF-8", **environment}
    return run(CLIENT, "--watch", *options, env=utf_8)


def on_screen(*options: str, **settings: Any) -> Any:
    return in_terminal(CLIENT, "--watch", "--interval", "0.2", *options, **settings)


@contextlib.contextmanager
def two_servers(folder: Path) -> Iterator[Pair]:
    folders = [folder / "one", folder / "two"]
    for each in folders:
        each.mkdir()
    with (
        running(folders[0], listen="127.0.0.2:0") as first,
        running(folders[1], listen="127.0.0.3:0") as second,
    ):
        yield first, second


def heads(terminal: Terminal, servers: Pair) -> list[tuple[int, int]]:
    """Line and column of each server's address that is on the screen."""
    found = []
    for server in servers:
        for y, line in enumerate(terminal.lines):
            if server.address in line:
                found.append((y, line.index(server.address)))
    return found


def both_ok(terminal: Terminal) -> Callable[[], bool]:
    return lambda: terminal.text.count("ok, ") == 2 and terminal.text.count("NAME") == 2
