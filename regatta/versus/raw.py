"""What a server of another protocol answers: asked by the client, which finds a reply's end."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regatta.errors import TrialError, UsageError
from regatta.ledger.cell import Cell
from regatta.trial.answers import Answer
from regatta.trial.ask import ANSWER_TIMEOUT_S
from regatta.trial.load import client_command
from regatta.trial.setup import TrialSetup

ASKED = "--raw"
EXAMPLE = re.compile(r"for example (?:\w+: )?(.*); check ")
"""In the client's words (src/results/advice.c)."""
TIMES = 3
CLOSED_S = 0.1
PATIENCE_S = 60.0
WRONG_USAGE = 2
UNREACHED = "127.0.0.1:1"


def check_raw(client: Path, raw: str, until: str) -> None:
    """UsageError if the client refuses them, in its own words."""
    ended = _run([str(client), "--quiet", "--request", raw, "--until", until, UNREACHED])
    if ended.returncode == WRONG_USAGE:
        said = ended.stderr.strip().removeprefix("regatta-client: ")
        raise UsageError(said.replace("--request", "--raw"))


def ask_raw(setup: TrialSetup, cell: Cell, target: str) -> list[Answer]:
    """Sends the request TIMES times; TrialError without an answer, or if the load would fail."""
    printed = [
        _shown(_asked(setup, cell, target, ["--timeout", f"{ANSWER_TIMEOUT_S * 1000:.0f}"]))
        for _ in range(TIMES)
    ]
    summary = _summary(setup, cell, target)
    length = summary["bytes_received"] // max(1, summary["answered"])
    return [Answer(ASKED, None, text.encode(), "", False, length) for text in printed]


def _asked(setup: TrialSetup, cell: Cell, target: str, options: Sequence[str]) -> str:
    """The client's output after one request."""
    command = [word for word in client_command(setup, cell, target, []) if word != "--json"]
    command[command.index("-c") + 1] = "1"
    ended = _run([*command[:-1], *options, command[-1]])
    if ended.returncode != 0:
        why = _why(ended.stderr)
        raise TrialError(f"it does not answer --raw so that --until matches: {why}")
    return ended.stdout


def _summary(setup: TrialSetup, cell: Cell, target: str) -> dict[str, Any]:
    """Of several requests on one connection, or on one connection each."""
    options = ["--load", "closed", "--duration", str(CLOSED_S)]
    options += ["--per-connection", str(cell.per_connection or 0)]
    command = client_command(setup, cell, target, options)
    command[command.index("-c") + 1] = "1"
    ended = _run(command)
    if ended.returncode == 0:
        found: dict[str, Any] = json.loads(ended.stdout)
        return found
    why = _why(ended.stderr)
    advice = "; add --short if it closes the connection after each reply" if "clos" in why else ""
    raise TrialError(f"it answers --raw once, but not again on the same connection: {why}{advice}")


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE_S, errors="replace"
    )


def _why(stderr: str) -> str:
    said = EXAMPLE.search(stderr)
    return said[1] if said else stderr.strip().removeprefix("regatta-client: ")


def _shown(output: str) -> str:
    """The reply in the client's output: indented lines after the first."""
    lines = output.split("\n")[1:]
    return "\n".join(lines[: lines.index("")])
