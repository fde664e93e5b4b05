"""What clients see of a server before a race: what it answers, why it cannot be raced and what to
do, and how many clients it takes at once.
"""

from __future__ import annotations

import errno
import json
import re
import selectors
import socket
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regatta.errors import TrialError, UsageError
from regatta.measure.accounts import process_tree
from regatta.measure.network.ports import ESTABLISHED, LISTEN, ports_of
from regatta.measure.trial.load import REQUESTS, client_command
from regatta.measure.trial.setup import TrialSetup
from regatta.record.cell import Cell
from regatta.record.study.limits import FOUND, HTTP2

LOAD_S = 0.1
PATIENCE_S = 60.0
ANSWER_TIMEOUT_S = 10.0
SAID = re.compile(r"for example (?:(\w+): )?(.*); ")
FOREIGN = {
    "connect": "^(TLS|ALPN):",
    "closed": "",
    "timeout": "",
    "malformed": "status line|^HTTP/2:",
    "refused": " 400 ",
}
"""By the kind of an error, what it says if the server may speak another protocol."""
EARLY = re.compile(r"HTTP/1\.\d 50[234]\b")
"""What a server or its gateway answers until it can do its work."""
TIMES = 3
WRONG_USAGE = 2
UNREACHED = "127.0.0.1:1"


@dataclass(frozen=True)
class Outcome:
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
        return self.kind in FOREIGN and re.search(FOREIGN[self.kind], self.why) is not None

    @property
    def is_early(self) -> bool:
        """Whether the server may answer later."""
        if self.kind == "refused":
            return EARLY.search(self.why) is not None
        return self.kind in {"connect", "closed"} and self.summary["bytes_received"] == 0


def by_client(
    setup: TrialSetup,
    cell: Cell,
    target: str,
    options: Sequence[str] = (),
    timeout_s: float = ANSWER_TIMEOUT_S,
) -> Outcome:
    """Asks over one connection, once unless the options say otherwise."""
    contender = setup.contenders.get(cell.contender)
    if contender is not None and contender.sent is not None:
        (setup.scratch / REQUESTS).write_text(contender.sent.text(), encoding="utf-8")
    timeout = ["--timeout", f"{timeout_s * 1000:.0f}"]
    words = client_command(setup, replace(cell, connections=1), target, [*options, *timeout])
    ended = run(words, setup.scratch)
    if ended.returncode == 0:
        return Outcome("", "", ended.stdout)
    said = SAID.search(ended.stderr)
    if said is None:
        raise TrialError(ended.stderr.strip().removeprefix("regatta-client: "))
    return Outcome(said[2], said[1] or "", ended.stdout)


def under_load(setup: TrialSetup, cell: Cell, target: str) -> dict[str, Any]:
    """The summary of requests on one connection, or on one each; TrialError if one fails."""
    options = ["--load", "closed", "--duration", f"{LOAD_S:g}"]
    options += ["--per-connection", str(cell.per_connection or 0)]
    outcome = by_client(setup, cell, target, options)
    if outcome.why:
        advice = "; add --short if it closes the connection after each answer"
        raise TrialError(
            f"it answers once, but not again on the same connection: {outcome.why}"
            f"{advice if outcome.kind == 'closed' and cell.until is not None else ''}"
        )
    return outcome.summary


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


def check_raw(client: Path, raw: str, until: str) -> None:
    """UsageError if the client refuses them, in its own words."""
    asked = [str(client), "--quiet", "--request", raw, "--until", until, UNREACHED]
    ended = run(asked, Path.cwd())
    if ended.returncode == WRONG_USAGE:
        said = ended.stderr.strip().removeprefix("regatta-client: ")
        raise UsageError(said.replace("--request", "--raw"))


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


def taken_at_once(
    target: str, tried: int, request: bytes, patience_s: float, pid: int | None
) -> tuple[int, int, tuple[int, ...]]:
    """How many of so many clients are connected to HOST:PORT at the first attempt, how many of
    these are answered while all stay connected, and how many each process holds then.

    `patience_s`: from one answer to the next. An empty request is not sent: all are answered then.
    `pid`: of the server whose processes are looked at; None: of none.
    """
    host, port = address_of(target)
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with ExitStack() as opened:
        clients = []
        for _ in range(tried):
            client = opened.enter_context(socket.socket(family, kind, protocol))
            client.setblocking(False)
            if client.connect_ex(address) in (0, errno.EINPROGRESS):
                clients.append(client)
        connected = [
            client
            for client in ready(clients, selectors.EVENT_WRITE, BEFORE_RETRY_S)
            if client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
        ]
        if not request:
            return len(connected), len(connected), ()
        for client in connected:
            with suppress(OSError):  # it has closed: it can be read
                client.sendall(request)
        answered = 0
        for client in ready(connected, selectors.EVENT_READ, patience_s):
            answered += 1
            with suppress(OSError):
                client.recv(MOST_READ)  # else its end would be a reset
        return len(connected), answered, () if pid is None else taken_by_each(pid, port)


def address_of(target: str) -> tuple[str, int]:
    """Of HOST:PORT."""
    host, _, port = target.rpartition(":")
    return host.strip("[]"), int(port)


def ready(
    clients: Iterable[socket.socket], event: int, patience_s: float
) -> Iterator[socket.socket]:
    """Each as it becomes so, until none has for that time."""
    with selectors.DefaultSelector() as waiting:
        for client in clients:
            waiting.register(client, event, client)
        while waiting.get_map() and (found := waiting.select(patience_s)):
            for key, _ in found:
                waiting.unregister(key.fileobj)
                yield key.data


def taken_by_each(pid: int, port: int) -> tuple[int, ...]:
    """How many connections each process of a server holds that accepts at this port, the most
    first. A process with children is left out: they accept for it."""
    found = []
    for process in process_tree.descendants(pid):
        with suppress(OSError):  # it has ended
            if port in ports_of(process, LISTEN) and not process_tree.children(process):
                found.append(ports_of(process, ESTABLISHED).count(port))
    return tuple(sorted(found, reverse=True))


def fewer(connected: int) -> int:
    """A number of connections that leaves a margin, as clients also reconnect."""
    return next((count for count in FEWER if 2 * count <= connected), 1)


# Why a server cannot be raced, and what to do: tables from what is seen of it to advice.

GREETING_S = 0.3
"""Within which a server greets that speaks first."""
PROBE_S = 2.0
"""For an answer in a protocol that the server may not speak."""
SHOWN = 40
"""Bytes of a greeting."""
EXPECT_IT = 'or expect it: --request FILE with {"path": "/", "status": N}'
CAUSES = (
    (
        r"EADDRINUSE|[Aa]ddress already in use|Address in use",
        "let it listen on {port} alone, or stop the program that has its other port",
    ),
    (r"before it was (ready|stopped)", "it must stay in the foreground and listen on {port}"),
    (r"was not ready", "if it needs longer, say so with --ready-timeout 60s"),
    (r"answers 3\d\d ", f"a redirect: name the path that it leads to with --path, {EXPECT_IT}"),
    (r"answers 426", "it wants another protocol: add --websocket if it speaks that"),
    (r"answers 40[137] ", "put what it asks for into the headers of --request FILE"),
    (r"answers \d\d\d ", f"name a path that it serves with --path, {EXPECT_IT}"),
)
"""A pattern of what was seen, and what to do; the first that matches counts."""


def advised(why: str) -> str:
    """With what most often helps."""
    found = (advice for pattern, advice in CAUSES if re.search(pattern, why))
    return "; ".join((why, *list(found)[:1]))


def speaking_other(setup: TrialSetup, cell: Cell, target: str) -> TrialSetup | None:
    """With what the server speaks instead of what it was asked in; None: nothing of it."""
    contender = setup.contenders.get(cell.contender)
    if contender is None or contender.dialect != "http" or contender.speaks not in FOUND:
        return None
    # Who wants HTTP/2 is not given HTTP/1.1.
    for speaks in HTTP2 if contender.speaks in HTTP2 else FOUND:
        if speaks == contender.speaks:
            continue
        other = contender.model_copy(update={"speaks": speaks})
        tried = replace(setup, contenders={**setup.contenders, cell.contender: other})
        with suppress(TrialError):  # this build of the client does not speak it
            outcome = by_client(tried, cell, target, timeout_s=PROBE_S)
            if not outcome.why or outcome.kind == "refused" and not outcome.is_foreign:
                return tried
    return None


def greeting(target: str) -> str:
    """What to do about a server that speaks before it is asked; empty: it does not."""
    with suppress(OSError), socket.create_connection(address_of(target)) as server:
        server.settimeout(GREETING_S)
        seen = server.recv(SHOWN).decode(errors="replace").split("\n")[0].strip()
        if seen:
            return (
                f'it speaks before it is asked ("{seen}"), so it is no HTTP server; ask it in its '
                "own protocol with --raw and --until"
            )
    return ""
