"""Facts about this machine and the versions of the peers, to interpret the results."""

import re
import subprocess
from typing import Any

from regatta.measure import environment, programs
from regatta.measure.places.sides import Placement

# Each peer's option for its version; some print it to stderr, and wrk exits with status 1.
VERSIONS = {
    "wrk": "-v",
    "h2load": "--version",
    "oha": "--version",
    "nginx": "-v",
    "redis-server": "--version",
    "memcached": "--version",
}
TOOL_TIMEOUT_S = 20


def version(program: str, option: str) -> str | None:
    path = programs.find_tool(program)
    if path is None:
        return None
    run = subprocess.run(
        [path, option], capture_output=True, text=True, timeout=TOOL_TIMEOUT_S, check=False
    )
    found = re.search(r"\d+(\.\d+)+", run.stdout + run.stderr)
    return found[0] if found else None


def peers() -> dict[str, str]:
    found = {program: version(program, option) for program, option in VERSIONS.items()}
    return {
        program: found_version
        for program, found_version in found.items()
        if found_version is not None
    }


def describe(placement: Placement) -> dict[str, Any]:
    described = {name: fact() for name, fact in environment.facts().items()}
    return {**described, "placement": placement.describe(), "peers": peers()}
