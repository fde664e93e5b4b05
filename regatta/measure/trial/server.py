"""Starts and stops the server of a trial: one of our designs, or another contender."""

import json
from dataclasses import replace
from typing import Any

from regatta.errors import TrialError
from regatta.measure.network.ports import free_port
from regatta.measure.trial.load import is_answered
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.side import Side
from regatta.measure.trial.start_up import StartUp
from regatta.record.cell import Cell
from regatta.record.study import Contender
from regatta.record.study.contender import ANSWER
from regatta.record.study.limits import scans_each_request

SUMMARY = "server.json"


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
    if contender.ready == ANSWER:
        server.poll_ready(lambda: is_answered(setup, cell, target))
    return target


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
    """Starts it on a free port and waits until it is ready, as the study says."""
    place, network = setup.placement.server, setup.placement.network_of
    host, port = setup.placement.server_address, contender.port or place.ask(free_port, network)
    server.shows(("stderr", "stdout"))
    if contender.ready_timeout_s is not None:
        server.patience_s = contender.ready_timeout_s
    start_up.ask(f"{host}:{port}")
    server.start(
        start_up.stamped(contender.words(host, port, place.cpus, setup.folder)),
        setup.perf,
        wanted,
        environment=setup.server_environment(),
        image=contender.image,
    )
    if contender.ready_line is None:
        server.wait_listening(network, port)
    else:
        server.wait_printed(contender.ready_line)
    return f"{host}:{port}"
