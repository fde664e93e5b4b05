"""Helpers for --watch: scripted hosts, with and without a terminal."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.commands import Done, run
from tests.e2e.scripted_servers import Handler, http, once
from tests.e2e.terminal import Terminal, in_terminal
from tests.servers import RunningServer, program, running

CLIENT = program("regatta-client")
Pair = tuple[RunningServer, RunningServer]
"""Two servers, as if on two hosts."""


def answer(*names: str, **changes: Any) -> dict[str, Any]:
    """A reply of regatta-server by=recent."""
    used = {"user_seconds": 9.98, "system_seconds": 0.02}
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
        "processes": [
            {"rank": rank, "pid": 4000 + rank, "name": name, **used}
            for rank, name in enumerate(names, start=1)
        ],
        "rest": {"user_seconds": 1.25, "system_seconds": 0.5, "processes": 73},
        **changes,
    }


def answering(content: dict[str, Any], seen: list[bytes] | None = None) -> Handler:
    """Always the same; `seen` gets the requests."""
    return once(http(json.dumps(content).encode(), headers=b"Connection: close\r\n"), seen)


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
