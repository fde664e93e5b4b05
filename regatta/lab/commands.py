"""The commands of the hour: as they are run, and as a person types them."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from regatta.lab.step import Desk, Typed
from regatta.lab.tools import PORT
from regatta.machine.programs import called_with

HERE = f"127.0.0.1:{PORT}"
CTRL_C = "Ctrl-C"
FOLDER = Path("lab")
"""Of a lab without --out."""


def lab(folder: Path, *options: str) -> str:
    """The lab of this folder, as a person calls it here."""
    out = [] if folder == FOLDER else ["--out", str(folder)]
    return called_with("lab", *options, *out)


def server(desk: Desk, design: str) -> list[str]:
    """Without its recorder, which uses CPU time that nobody asked for; and it reads /proc, as in a
    race, which the work classic does anyway."""
    work = desk.setting.work
    words = [desk.tools.server, "--design", design, "--work", work, "--no-recorder"]
    return words if work.startswith("classic") else [*words, "--source", "procfs"]


def pinned_server(desk: Desk, design: str) -> list[str]:
    """It logs nothing, as in a race: in a terminal it would write four lines for each client."""
    return desk.tools.pinned([*server(desk, design), "--quiet"], desk.tools.server_cpus)


def client(desk: Desk, *options: str) -> list[str]:
    """As many connections as the lab has; the server's address comes last."""
    return [desk.tools.client, "-c", str(desk.setting.connections), *options]


def one_client(desk: Desk, *options: str) -> list[str]:
    return [desk.tools.client, *options]


def line(words: Sequence[str], desk: Desk, into: str = "") -> str:
    """`into`: the file of the lab that keeps what it prints."""
    typed = shlex.join(words)
    return kept(typed, desk, into) if into else typed


def kept(typed: str, desk: Desk, into: str) -> str:
    """What a line prints is shown, and kept."""
    return f"{typed} 2>&1 | tee {shlex.quote(str(desk.path(into)))}"


def between(desk: Desk, design: str, *asking: Typed) -> list[Typed]:
    """A server in terminal 1, what is typed in others meanwhile, and its end."""
    return [Typed(1, line(server(desk, design), desk)), *asking, Typed(1, CTRL_C)]
