"""What the client says of a server before a race, also of one that speaks another protocol, and how
many clients that server takes at once.
"""

from __future__ import annotations

import errno
import json
import re
import selectors
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regatta.errors import TrialError, UsageError
from regatta.measure.accounts import process_tree
from regatta.measure.network.ports import ESTABLISHED, LISTEN, ports_of
from regatta.measure.trial.answers import Answer
from regatta.measure.trial.load import REQUESTS, client_command
from regatta.measure.trial.setup import TrialSetup
from regatta.record.cell import Cell

LOAD_S = 0.1
PATIENCE_S = 60.0
ANSWER_TIMEOUT_S = 10.0
SAID = re.compile(r"for example (?:(\w+): )?(.*); ")
FOREIGN = {"closed": "", "timeout": "", "malformed": "status line", "refused": " 400 "}
"""By the kind of an error, what it says if the server may speak another protocol than HTTP/1.1, or
HTTP within another one."""
EARLY = re.compile(r"HTTP/1\.\d 50[234]\b")
"""What a server or its gateway answers until it can do its work."""


@dataclass(frozen=True)
class Told:
    """Of one load."""

    why: str
    """Of a request that failed; empty if all were answered."""
    kind: str
    """Of that failure: connect, timeout, closed, malformed or refused."""
    printed: str

    @property
    def summary(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.printed)
        return found

    @property
    def is_foreign(self) -> bool:
        return self.kind in FOREIGN and FOREIGN[self.kind] in self.why

    @property
    def is_early(self) -> bool:
        """Whether the server may answer later."""
        if self.kind == "refused":
            return EARLY.search(self.why) is not None
        unheard = self.kind in {"connect", "closed"}
        return unheard and self.summary["bytes_received"] == 0


def by_client(
    setup: TrialSetup, cell: Cell, target: str, options: Sequence[str], as_json: bool = True
) -> Told:
    """Asks over one connection, once unless the options say otherwise."""
    contender = setup.contenders.get(cell.contender)
    if contender is not None and contender.requests is not None:
        (setup.scratch / REQUESTS).write_text(contender.requests.text(), encoding="utf-8")
    timeout = ["--timeout", f"{ANSWER_TIMEOUT_S * 1000:.0f}"]
    words = client_command(setup, replace(cell, connections=1), target, [*options, *timeout])
    ended = run(words if as_json else [word for word in words if word != "--json"], setup.scratch)
    if ended.returncode == 0:
        return Told("", "", ended.stdout)
    said = SAID.search(ended.stderr)
    if said is None:
        raise TrialError(ended.stderr.strip().removeprefix("regatta-client: "))
    return Told(said[2], said[1] or "", ended.stdout)


def under_load(setup: TrialSetup, cell: Cell, target: str) -> dict[str, Any]:
    """The summary of requests on one connection, or on one each; TrialError if one fails."""
    options = ["--load", "closed", "--duration", f"{LOAD_S:g}"]
    options += ["--per-connection", str(cell.per_connection or 0)]
    told = by_client(setup, cell, target, options)
    if told.why:
        advice = "; add --short if it closes the connection after each answer"
        raise TrialError(
            f"it answers once, but not again on the same connection: {told.why}"
            f"{advice if told.kind == 'closed' and cell.until is not None else ''}"
        )
    return told.summary


def run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        errors="replace",
    )


ASKED = "--raw"
TIMES = 3
WRONG_USAGE = 2
UNREACHED = "127.0.0.1:1"


def check_raw(client: Path, raw: str, until: str) -> None:
    """UsageError if the client refuses them, in its own words."""
    asked = [str(client), "--quiet", "--request", raw, "--until", until, UNREACHED]
    ended = run(asked, Path.cwd())
    if ended.returncode == WRONG_USAGE:
        said = ended.stderr.strip().removeprefix("regatta-client: ")
        raise UsageError(said.replace("--request", "--raw"))


def ask_raw(setup: TrialSetup, cell: Cell, target: str) -> list[Answer]:
    """Sends the request TIMES times, to a server that has answered it."""
    found = []
    for _ in range(TIMES):
        length = by_client(setup, cell, target, ()).summary["bytes_received"]
        text = _shown(by_client(setup, cell, target, (), as_json=False).printed)
        found.append(Answer(ASKED, None, text.encode(), "", False, length))
    return found


def _shown(output: str) -> str:
    """The reply in the client's output: indented lines after the first."""
    lines = output.split("\n")[1:]
    return "\n".join(lines[: lines.index("")])


# How many clients can connect to a server at once, how many it answers meanwhile, and which of its
# processes take them. The kernel completes connections up to the length of the listen queue, which
# the server chose (`listen(2)`), and drops further attempts. Their clients try again after a
# second, then after two, four and so on, so a race over more connections takes minutes.
#
# A server with a process or thread for each connection leaves those waiting that it has none for,
# as long as the others stay connected.

BEFORE_RETRY_S = 0.8
"""The kernel sends a dropped attempt again after 1 s."""
MOST_TRIED = 500
"""Within the usual limit of descriptors."""
MOST_READ = 1 << 20
FEWER = (50, 20, 10, 5, 2, 1)


@contextmanager
def taken_at_once(
    target: str, tried: int, request: bytes, patience_s: float
) -> Iterator[tuple[int, int]]:
    """How many of so many clients are connected to HOST:PORT at the first attempt, and how many of
    these are answered while all stay connected. They do until the end of the context.

    `patience_s`: from one answer to the next. An empty request is not sent: all are answered then.
    """
    host, _, port = target.rpartition(":")
    family, kind, protocol, _, address = socket.getaddrinfo(
        host.strip("[]"), int(port), type=socket.SOCK_STREAM
    )[0]
    with ExitStack() as opened:
        connecting = opened.enter_context(selectors.DefaultSelector())
        waiting = opened.enter_context(selectors.DefaultSelector())
        for _ in range(tried):
            client = opened.enter_context(socket.socket(family, kind, protocol))
            client.setblocking(False)
            if client.connect_ex(address) in (0, errno.EINPROGRESS):
                connecting.register(client, selectors.EVENT_WRITE)
        connected = 0
        ends_s = time.monotonic() + BEFORE_RETRY_S
        while connecting.get_map() and (left_s := ends_s - time.monotonic()) > 0:
            for client in ready(connecting, left_s):
                if client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                    connected += 1
                    waiting.register(client, selectors.EVENT_READ)
        if not request:
            yield connected, connected
            return
        for key in list(waiting.get_map().values()):
            with suppress(OSError):  # it has closed: it can be read
                key.fileobj.sendall(request)  # type: ignore[union-attr]
        while waiting.get_map() and (answered := ready(waiting, patience_s)):
            for client in answered:
                with suppress(OSError):
                    client.recv(MOST_READ)  # else its end would be a reset
        yield connected, connected - len(waiting.get_map())


def taken_by_each(pid: int, port: int) -> tuple[int, ...]:
    """How many connections each process of a server holds that accepts at this port, the most
    first. A process with children is left out: they accept for it."""
    workers = [
        one
        for one in process_tree.descendants(pid)
        if port in ports_of(one, LISTEN) and not children(one)
    ]
    return tuple(sorted((ports_of(one, ESTABLISHED).count(port) for one in workers), reverse=True))


def children(pid: int) -> list[int]:
    with suppress(OSError):  # it has ended
        return process_tree.children(pid)
    return []


def ready(waiting: selectors.BaseSelector, patience_s: float) -> list[socket.socket]:
    """Those that are; nobody waits for them any longer."""
    found = [key.fileobj for key, _ in waiting.select(patience_s)]
    for one in found:
        waiting.unregister(one)
    return [one for one in found if isinstance(one, socket.socket)]


def fewer(connected: int) -> int:
    """A number of connections that leaves a margin, as clients also reconnect."""
    return next((count for count in FEWER if 2 * count <= connected), 1)
