"""Commands of servers for `versus`: one that burns a known share of CPU, one with users' faults."""

import shlex
import sys
from pathlib import Path

from tests.commands import run_well

SOURCE = Path(__file__).with_name("toy_server.c")
NODE = f"node {SOURCE.with_suffix('.js')}"


def build_toy(folder: Path) -> Path:
    program = folder / "toy-server"
    run_well("cc", "-O2", "-o", program, SOURCE)
    return program


def versions(program: Path | str, percent: float) -> tuple[str, ...]:
    """The options for a head that takes so much more than its base."""
    return ("--base", f"{program} {{port}}", "--head", f"{program} {{port}} {percent:g}")


def user_server(how: str, *more: object) -> str:
    """The command of user_server.py with this fault."""
    server = [sys.executable, str(Path(__file__).with_name("user_server.py"))]
    return " ".join([shlex.join(server), "{port}", how, *map(str, more)])
