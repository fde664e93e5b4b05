"""The commands of the lab: as the lab runs them, and as a student types them."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from regatta.measure.programs import called_with
from regatta.teach.lab.step import Lab, Typed
from regatta.teach.lab.tools import PORT

HERE = f"127.0.0.1:{PORT}"
CTRL_C = "Ctrl-C"
FOLDER = Path("lab")
"""The lab's folder without --out."""


def lab_command(folder: Path, *options: str) -> str:
    """The command that continues the lab in this folder."""
    out = [] if folder == FOLDER else ["--out", str(folder)]
    return called_with("lab", *options, *out)


def server(lab: Lab, design: str) -> list[str]:
    """Without its recorder, whose CPU time belongs to no request; reads /proc, as in a race."""
    work = lab.setting.work
    words = [lab.tools.server, "--design", design, "--work", work, "--no-recorder"]
    return words if work.startswith("classic") else [*words, "--source", "procfs"]


def pinned_server(lab: Lab, design: str) -> list[str]:
    """Quiet, as in a race: logging to a terminal would cost four lines for each client."""
    return lab.tools.pinned([*server(lab, design), "--quiet"], lab.tools.server_cpus)


def client(lab: Lab, *options: str) -> list[str]:
    """With the lab's number of connections; the caller appends the server's address."""
    return [lab.tools.client, "-c", str(lab.setting.connections), *options]


def line(words: Sequence[str], lab: Lab, into: str = "") -> str:
    """`into`: the file of the lab that the output is copied to."""
    typed = shlex.join(words)
    return tee(typed, lab, into) if into else typed


def tee(typed: str, lab: Lab, into: str) -> str:

    return f"{typed} 2>&1 | tee {shlex.quote(str(lab.path(into)))}"


def while_serving(lab: Lab, design: str, *asking: Typed) -> list[Typed]:
    """Starts a server in terminal 1, then the commands of other terminals, then stops it."""
    return [Typed(1, line(server(lab, design), lab)), *asking, Typed(1, CTRL_C)]
