"""The server of a trial, started, found ready and stopped: a design of ours, or a contender."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regatta.errors import TrialError
from regatta.ledger.cell import Cell
from regatta.machine import accounting
from regatta.machine.line import readable
from regatta.machine.placed import Placement
from regatta.study import Contender
from regatta.study.limits import scans_each_request
from regatta.trial.setup import TrialSetup
from regatta.trial.side import READY_TIMEOUT_S, Side

READY_POLL_S = 0.005


def start_server(setup: TrialSetup, cell: Cell, wanted: tuple[str, ...], server: Side) -> str:
    """Starts the server and returns the address at which it accepts connections."""
    contender = setup.contenders.get(cell.contender)
    if contender is None:
        target = start_design(setup, cell, wanted, server)
    else:
        target = start_contender(setup, contender, wanted, server)
    server.find_program()
    return target


def stop_server(setup: TrialSetup, cell: Cell, server: Side) -> dict[str, Any] | None:
    """Stops it and returns its summary; a contender has none.

    Ours must drain and exit with status 0; a contender may die by the signal.
    """
    contender = setup.contenders.get(cell.contender)
    if contender is not None:
        server.stop(contender.stop_signal, may_die=True)
        return None
    server.stop()
    summary = setup.scratch / "server.json"
    if not summary.is_file():
        raise server.failure("the server exited without writing its summary")
    return read_json(summary.read_text(errors="replace"), server.name)


def read_json(text: str, side: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise TrialError(f"the {side} printed no JSON") from error
    if not isinstance(value, dict):
        raise TrialError(f"the {side} printed JSON of another shape")
    return value


def design_command(setup: TrialSetup, cell: Cell, ready_fd: int) -> list[str]:
    command = [str(setup.programs.server), "--design", cell.contender]
    command += ["--listen", f"{setup.placement.server_address}:0", "--work", cell.work]
    command += setup.placement.access()
    command.append("--no-recorder")  # measured is what the clients cause
    # The same work and the same rights everywhere, whatever a machine permits (docs/decisions.md).
    command += ["--source", "procfs", "--sandbox", "off"]
    if not scans_each_request(cell.work):
        command += ["--max-age", str(cell.max_age_ms)]
    if cell.workers is not None:
        command += ["--workers", str(cell.workers)]
    if cell.backlog is not None:
        command += ["--backlog", str(cell.backlog)]
    return [*command, "--ready-fd", str(ready_fd), "--summary", "server.json"]


def start_design(setup: TrialSetup, cell: Cell, wanted: tuple[str, ...], server: Side) -> str:
    place = setup.placement.server
    with place.line(setup.scratch, server.name) as line:
        command = design_command(setup, cell, line.number)
        server.start(place, command, setup.perf, wanted, line, setup.server_environment())
        word, _, target = server.read_line(line, READY_TIMEOUT_S, "ready").partition(" ")
        if word != "ready" or not target:
            raise server.failure("the server wrote something other than `ready`")
    return target


def start_contender(
    setup: TrialSetup, contender: Contender, wanted: tuple[str, ...], server: Side
) -> str:
    """Gives it a free port, starts it, and waits in the way the study names."""
    host, port = setup.placement.server_address, setup.placement.free_port()
    server.output_streams = ("stderr", "stdout")
    command = contender.words(host, port, setup.placement.server.cpus, setup.folder)
    extra = setup.server_environment()
    server.start(
        setup.placement.server, command, setup.perf, wanted, extra=extra, image=contender.image
    )
    wait_ready(server, ready_test(contender, setup.placement, port, setup.scratch))
    return f"{host}:{port}"


def ready_test(
    contender: Contender, placement: Placement, port: int, scratch: Path
) -> Callable[[], bool]:
    pattern = contender.ready_line
    if pattern is None:
        return lambda: placement.listens(port)
    outputs = [scratch / f"server.{stream}" for stream in ("stdout", "stderr")]

    def line_is_there() -> bool:
        lines = [line for path in outputs for line in path.read_text(errors="replace").split("\n")]
        return any(pattern.search(line) for line in lines)

    return line_is_there


def wait_ready(server: Side, is_ready: Callable[[], bool]) -> None:
    """Polls: nothing tells us when somebody else's server is ready; only its exit wakes us."""
    deadline = time.monotonic() + READY_TIMEOUT_S
    pidfd = os.pidfd_open(server.process.pid)
    try:
        while not is_ready():
            if readable(pidfd, time.monotonic() + READY_POLL_S):
                raise server.failure("the server exited before it was ready")
            if time.monotonic() > deadline:
                raise server.failure(f"the server was not ready within {READY_TIMEOUT_S:g} s")
    finally:
        os.close(pidfd)


def check_pinned(setup: TrialSetup, cell: Cell, server: Side) -> None:
    """A contender that pins its threads elsewhere ran on CPUs that are not the server's."""
    if cell.contender not in setup.contenders:
        return
    assert server.pid is not None
    server_cpus = set(setup.placement.server.cpus)
    for pid in accounting.descendants(server.pid):
        for tid in accounting.threads_of(pid):
            try:
                strange = os.sched_getaffinity(tid) - server_cpus
            except OSError:
                continue
            if strange:
                cpus = ",".join(map(str, sorted(strange)))
                raise TrialError(
                    f"the server's process {pid} may run on CPU {cpus}, which is not the "
                    "server's; let it keep the CPUs that it is started on"
                )
