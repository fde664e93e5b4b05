"""Finds our C programs and system tools, and asks the server for its designs."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from regatta.errors import RegattaError, UsageError
from regatta.record.study.find import Design

TOOL_TIMEOUT_S = 20
NAME = "regatta"


@dataclass(frozen=True)
class Programs:
    """Paths and versions of the programs, and the server's designs in its order."""

    server: Path
    client: Path
    server_version: str
    client_version: str
    designs: tuple[Design, ...]
    canary: Path | None = None
    """Measures a CPU's clock speed; optional."""
    trace: Path | None = None
    """Follows requests; optional."""
    dial: Path | None = None
    """Connects a program in a container to the lab."""


def find(name: str) -> Path:
    """The program of that name; RegattaError with the command that builds it if there is none."""
    if named := os.environ.get("REGATTA_BIN"):
        if found := program_in(Path(named), name):
            return found
        raise RegattaError(
            f"{name} is not in REGATTA_BIN={named}; run `make build`, or unset REGATTA_BIN"
        )
    script_folder = Path(sys.argv[0]).resolve().parent
    repository = Path(__file__).resolve().parents[2] / "bin"
    for folder in (script_folder, repository, Path(sys.executable).parent):
        if found := program_in(folder, name):
            return found
    if in_path := shutil.which(name):
        return Path(in_path)
    raise RegattaError(f"{name} was not found; run `make build`, or name its folder in REGATTA_BIN")


def query(program: Path, *options: str) -> str:
    """The stdout of one of the programs for an option such as --version."""
    command = [str(program), *options]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=TOOL_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RegattaError(f"cannot run {program}: {error}; run `make build` again") from error
    if answer.returncode != 0:
        lines = answer.stderr.strip().splitlines()
        reason = lines[-1] if lines else f"exit status {answer.returncode}"
        raise RegattaError(f"`{' '.join(command)}` failed: {reason}; run `make build` again")
    return answer.stdout.strip()


def parse_designs(text: str) -> tuple[Design, ...]:
    """Reads `regatta-server --list-designs --json`."""
    try:
        rows = json.loads(text)
        designs = tuple(
            Design(str(row["name"]), str(row["summary"]), bool(row["pool"]), row["missing"])
            for row in rows
        )
    except (ValueError, KeyError, TypeError) as error:
        raise RegattaError(
            f"cannot read the list of designs that regatta-server printed ({error}); "
            "run `make build` again"
        ) from error
    if not designs:
        raise RegattaError("regatta-server has no designs; run `make build` again")
    return designs


def discover() -> Programs:
    server = find("regatta-server")
    client = find("regatta-client")
    return Programs(
        server=server,
        client=client,
        server_version=query(server, "--version"),
        client_version=query(client, "--version"),
        designs=parse_designs(query(server, "--list-designs", "--json")),
        canary=program_in(server.parent, "regatta-canary"),
        trace=program_in(server.parent, "regatta-trace"),
        dial=program_in(server.parent, "regatta-dial"),
    )


def program_in(folder: Path, name: str) -> Path | None:
    path = folder / name
    return path if path.is_file() and os.access(path, os.X_OK) else None


def find_tool(name: str) -> str | None:
    """A system program; also searches the sbin folders, which PATH may lack."""
    path = os.environ.get("PATH", os.defpath)
    return shutil.which(name, path=f"{path}:/usr/sbin:/sbin:/usr/local/sbin")


def typed(program: Path) -> str:
    """Its path as a person would type it here to run it."""
    path = str(shown(program))
    return path if "/" in path else f"./{path}"  # a bare name would be searched in PATH


def called() -> str:
    """The command that runs this program here, for hints to the user."""
    program = Path(sys.argv[0]).absolute()
    if program.name != NAME:
        return NAME
    known = shutil.which(NAME)
    in_path = known is not None and Path(known).resolve() == program.resolve()
    return NAME if in_path else typed(program)


def called_with(*words: str | Path) -> str:
    """This program with these arguments, quoted for a shell."""
    return shlex.join([called(), *map(str, words)])


def shown(path: Path) -> Path:
    """The path as a person would type it here."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def need_tool(name: str, package: str) -> str:
    """A system program; UsageError with the package to install if it is missing."""
    found = find_tool(name)
    if found is None:
        raise UsageError(f"the program {name} is missing; install the package {package}")
    return found
