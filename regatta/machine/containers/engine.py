"""The container engine: podman or docker, whichever works. Both take the same arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regatta.errors import PlacementError
from regatta.machine.network.veth import run_tool
from regatta.machine.programs import find_tool

PODMAN, DOCKER = "podman", "docker"
VERSION = {
    PODMAN: "{{.Version.Version}} {{.Host.OCIRuntime.Name}}",
    DOCKER: "{{.ServerVersion}} {{.DefaultRuntime}}",
}
"""Format of the version and the OCI runtime for each engine."""
TIMEOUT_S = 60
INSTALL = "sudo apt-get install podman runc"


@dataclass(frozen=True)
class Engine:
    """An engine that works."""

    name: str
    path: str
    version: str
    runtime: str

    def command(self, *words: str) -> list[str]:
        return [self.path, *words]

    def run(self, *words: str, stdin: bytes = b"") -> str:
        """Returns what it prints; PlacementError with its last line if it fails."""
        return ask(self.name, self.command(*words), stdin)

    @property
    def text(self) -> str:
        return f"{self.name} {self.version}"


def ask(name: str, command: Sequence[str], stdin: bytes = b"") -> str:
    try:
        return run_tool(command, stdin, TIMEOUT_S).strip()
    except PlacementError as error:
        raise PlacementError(f"{name}: {error}") from error


def find_engine(wanted: str | None = None) -> Engine:
    """The wanted engine, or the first that works; PlacementError with the reasons if none does."""
    reasons: list[str] = []
    for name in (PODMAN, DOCKER) if wanted is None else (wanted,):
        path = find_tool(name)
        if path is None:
            reasons.append(f"{name} is not installed")
            continue
        try:
            version, _, runtime = ask(name, [path, "info", "--format", VERSION[name]]).partition(
                " "
            )
        except PlacementError as error:
            reasons.append(str(error))
            continue
        return Engine(name, path, version, runtime)
    raise PlacementError(f"no container engine works here ({'; '.join(reasons)}); {INSTALL}")
