"""What the client says of a server before a race: it reads answers then as it does in the race."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regatta.errors import TrialError
from regatta.ledger.cell import Cell
from regatta.trial.load import REQUESTS, client_command
from regatta.trial.setup import TrialSetup

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
