"""Starts and stops the server of a trial: one of our designs, or another contender.

Where its whole cost is measured, so is its start: the time from its exec to its first answer, and
what it then has in memory. A shell that becomes the server notes the time just before; it knows
only the time of day, so a start during which that clock is set has no figure. The client of the
first answer waits on the client's CPUs already.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from regatta.errors import RegattaError, TrialError
from regatta.measure.accounts import cgroup
from regatta.measure.accounts.cgroup import ControlGroup, group_of
from regatta.measure.accounts.process_tree import descendants
from regatta.measure.network.ports import free_port, is_here, listener
from regatta.measure.places.containers.engine import find_engine
from regatta.measure.places.placement import first_cpus
from regatta.measure.programs import find_tool
from regatta.measure.trial import ask
from regatta.measure.trial.load import is_answered
from regatta.measure.trial.program import READY_TIMEOUT_S
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.side import Side
from regatta.record.cell import Cell
from regatta.record.counters import (
    BYTES,
    MEMORY_AT_REST,
    MILLISECONDS,
    START_UP,
    Counter,
    counted,
    not_supported,
)
from regatta.record.study import Contender
from regatta.record.study.contender import ANSWER, HTTP, PORT, log_line, placeholders
from regatta.record.study.limits import LOOPBACK, NETNS, scans_each_request

SUMMARY = "server.json"
STARTED = "server.started"
STAMP = 'echo "$EPOCHREALTIME" >"$0" && exec "$@"'
"""In bash: other shells have no such clock."""
NS_PER_US, NS_PER_MS = 1000, 1_000_000
WAS_SET_NS = NS_PER_MS
"""A clock that moves by more against CLOCK_MONOTONIC was set."""
ANSWER_TIMEOUT_S = ask.PATIENCE_S + 5.0


def start_server(
    setup: TrialSetup,
    cell: Cell,
    wanted: tuple[str, ...],
    server: Side,
    start_up: StartUp | None = None,
) -> str:
    """Starts the server; returns the address at which it accepts connections."""
    start_up = start_up or StartUp(replace(setup, whole_cost=False), cell)
    contender = setup.contenders.get(cell.contender)
    if contender is None:
        return start_design(setup, cell, wanted, server, start_up)
    target = start_contender(setup, contender, wanted, server, start_up)
    if contender.ready.startswith(HTTP):
        path = contender.ready.removeprefix(HTTP)
        one = replace(cell, dialect="http", path=path, request=None, requests=None, until=None)
        wait_answered(setup, one, target, server)
    elif contender.ready == ANSWER:
        wait_answered(setup, cell, target, server)
    return target


def wait_answered(setup: TrialSetup, cell: Cell, target: str, server: Side) -> None:
    """From here: the client may be on another host than the server."""
    contender = setup.contenders[cell.contender]
    patience_s = contender.ready_timeout_s or READY_TIMEOUT_S
    ends_s = time.monotonic() + patience_s
    while not is_answered(setup, cell, target):
        if server.ended():
            raise server.failure("the server exited before it was ready")
        if time.monotonic() > ends_s:
            raise server.failure(f"the server was not ready within {patience_s:g} s")


def stop_server(setup: TrialSetup, cell: Cell, server: Side) -> dict[str, Any] | None:
    """Stops it and returns its summary; other contenders have none.

    Ours must drain and exit with status 0; another may be killed by the signal.
    """
    contender = setup.contenders.get(cell.contender)
    if contender is not None:
        server.stop(contender.stop_signal, may_die=True)
        return None
    server.stop()
    summary = server.file(SUMMARY)
    if summary is None:
        raise server.failure("the server exited without writing its summary")
    return read_json(summary.decode(errors="replace"), "server")


def read_json(text: str, side: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise TrialError(f"the {side} printed no JSON") from error
    if not isinstance(value, dict):
        raise TrialError(f"the {side} printed JSON that is not an object")
    return value


def design_command(setup: TrialSetup, cell: Cell) -> list[str]:
    command = [str(setup.programs.server), "--design", cell.contender]
    command += ["--listen", f"{setup.placement.server_address}:0", "--work", cell.work]
    command += setup.placement.access()
    command.append("--no-recorder")  # only the clients' work is measured
    # The same source and privileges on every machine (docs/decisions.md).
    command += ["--source", "procfs", "--sandbox", "off"]
    if not scans_each_request(cell.work):
        command += ["--max-age", str(cell.max_age_ms)]
    if cell.workers is not None:
        command += ["--workers", str(cell.workers)]
    if cell.backlog is not None:
        command += ["--backlog", str(cell.backlog)]
    return [*command, "--summary", SUMMARY]


def start_design(
    setup: TrialSetup, cell: Cell, wanted: tuple[str, ...], server: Side, start_up: StartUp
) -> str:
    server.start(
        start_up.stamped(design_command(setup, cell)),
        setup.perf,
        wanted,
        channel_option="--ready-fd",
        environment=setup.server_environment(),
    )
    target = server.ready()
    server.hang_up()
    if not target:
        raise server.failure("the server did not report its address")
    start_up.ask(target)
    return target


def start_contender(
    setup: TrialSetup,
    contender: Contender,
    wanted: tuple[str, ...],
    server: Side,
    start_up: StartUp,
) -> str:
    """Starts it on a free port and waits until it is ready, as the study says; or finds one that
    runs already."""
    if contender.address is not None:
        server.contends(contender.ready_timeout_s)
        server.attach(*account_of(contender))
        start_up.ask(contender.address)
        return contender.address
    place, network = setup.placement.server, setup.placement.network_of
    host, port = setup.placement.server_address, contender.port or place.ask(free_port, network)
    cpus, pinned = place.cpus, []
    if contender.cpus is not None:
        if contender.cpus > len(cpus):
            raise TrialError(
                f"it is to have {contender.cpus} CPUs, but the server's are {len(cpus)}"
            )
        cpus = place.ask(first_cpus, cpus, contender.cpus)
        pinned = ["taskset", "-c", ",".join(map(str, cpus))]
    values = placeholders(host, port, cpus, setup.folder)
    server.contends(contender.ready_timeout_s)
    for name, words in contender.companions.items():
        its_port = place.ask(free_port, network)
        own = values | {"port": str(its_port)}
        server.accompany(
            name,
            contender.started(words, own),
            contender.variables(own),
            (network, its_port),
            log_line(contender.with_ready.get(name, PORT)),
        )
        values[name] = str(its_port)
    setup_words, teardown = (
        contender.started(["/bin/sh", "-c", text], values) if text else None
        for text in (contender.setup, contender.teardown)
    )
    server.prepare(setup_words, teardown, contender.variables(values))
    start_up.ask(f"{host}:{port}")
    server.start(
        start_up.stamped([*pinned, *contender.started(contender.command, values)]),
        setup.perf,
        wanted,
        environment=setup.server_environment() | contender.variables(values),
        image=contender.image,
    )
    if contender.printed_when_ready is None:
        server.wait_listening(network, port)
    else:
        server.wait_printed(contender.printed_when_ready)
    return f"{host}:{port}"


def account_of(contender: Contender) -> tuple[int | None, ControlGroup | None]:
    """The first process of a server that runs already, and its group if that is its own."""
    assert contender.address
    host, _, port = contender.address.rpartition(":")
    host = host.strip("[]")
    if contender.account is None:
        return (listener(host, int(port)) if is_here(host) else None), None
    try:
        pid, group = named_account(*contender.account.split(":", 1))
        os.close(os.pidfd_open(pid))
    except (OSError, OverflowError, LookupError, ValueError, RegattaError) as error:
        raise TrialError(f"its account {contender.account} cannot be read: {error}") from error
    members = descendants(pid) if group is None else group.pids()
    if os.getpid() in members:
        raise TrialError(f"its account {contender.account} includes the client's: name less")
    return pid, group


def named_account(kind: str, name: str) -> tuple[int, ControlGroup | None]:
    if kind == "pid":
        return int(name), None
    if kind == "container":
        pid = int(find_engine().run("inspect", "--format", "{{.State.Pid}}", name))
        return pid, group_of(pid)
    group = cgroup.group_of_others(unit_group(name) if kind == "unit" else name)
    return group.pids()[0], group


def unit_group(unit: str) -> str:
    """The control group of a unit of systemd; LookupError if it does not run."""
    show = ("systemctl", "show", "--property", "ControlGroup", "--value", unit)
    group = subprocess.run(show, capture_output=True, text=True, check=False).stdout.strip()
    if not group:
        raise LookupError("no such unit runs")
    return group


class StartUp(AbstractContextManager["StartUp"]):
    """Use it in a `with` statement around the server's start."""

    def __init__(self, setup: TrialSetup, cell: Cell) -> None:
        self.bash = find_tool("bash")
        local = setup.placement.kind in {NETNS, LOOPBACK}
        self.client: Side | None = None
        self.ahead_ns = 0
        if setup.whole_cost and local and self.bash is not None:
            self.client = setup.side(setup.placement.client, "first-answer")
            command = [sys.executable, "-I", "-S", ask.__file__, request_of(cell)]
            self.client.start(command, setup.perf, (), channel_option="--fd")
            self.client.ready()

    def __exit__(self, *_: object) -> None:
        if self.client is not None:
            self.client.leave()

    def stamped(self, command: Sequence[str]) -> list[str]:
        """The command that notes when it starts."""
        if self.client is None:
            return list(command)
        assert self.bash
        self.ahead_ns = ahead_ns()
        return [self.bash, "-c", STAMP, STARTED, *command]

    def ask(self, target: str) -> None:
        """Asks the server at this address until it answers."""
        if self.client is not None:
            self.client.say(target)

    def counters(self, server: Side) -> list[Counter]:
        """Without an answer in time they have no value; the warm-up then says why."""
        found = [not_supported(START_UP, MILLISECONDS), not_supported(MEMORY_AT_REST, BYTES)]
        if self.client is None:
            return []
        with suppress(RegattaError, FileNotFoundError):  # of one that runs already: no stamp
            _, _, at_ns = self.client.read_line(ANSWER_TIMEOUT_S, "answered").partition(" ")
            took_ns = int(at_ns) - (started_ns(server.folder / STARTED) - self.ahead_ns)
            found[1:] = server.held(MEMORY_AT_REST)
            if abs(ahead_ns() - self.ahead_ns) < WAS_SET_NS:
                found[0] = counted(START_UP, took_ns / NS_PER_MS, MILLISECONDS)
        return found


def ahead_ns() -> int:
    """By how much the time of day is ahead of CLOCK_MONOTONIC."""
    return time.time_ns() - time.monotonic_ns()


def started_ns(stamp: Path) -> int:
    """bash writes seconds with six digits behind the locale's decimal sign."""
    return int("".join(filter(str.isdigit, stamp.read_text()))) * NS_PER_US


def request_of(cell: Cell) -> str:
    if cell.dialect == "line":
        return f"{cell.request or f'top {cell.top}'}\n"
    path = cell.path or f"/top?n={cell.top}"
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
