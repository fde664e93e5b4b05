"""What a server of another protocol answers: asked by the client, which finds a reply's end."""

from __future__ import annotations

from pathlib import Path

from regatta.errors import UsageError
from regatta.ledger.cell import Cell
from regatta.trial.answers import Answer
from regatta.trial.setup import TrialSetup
from regatta.versus.by_client import by_client, run

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
