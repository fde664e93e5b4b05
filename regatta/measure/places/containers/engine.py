"""The container engine, podman or docker, and the image that our programs run in."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

from regatta.errors import PlacementError
from regatta.measure.network.veth import run_tool
from regatta.measure.programs import find_tool

PODMAN, DOCKER = "podman", "docker"
VERSION = {
    PODMAN: "{{.Version.Version}} {{.Host.OCIRuntime.Name}}",
    DOCKER: "{{.ServerVersion}} {{.DefaultRuntime}}",
}
"""Format of the version and the OCI runtime for each engine."""
TIMEOUT_S = 60
INSTALL = "sudo apt-get install podman runc"

# The image that our programs run in has only empty folders: this machine's programs and libraries
# are mounted, so nothing is pulled, and no build needs another image.
IMAGE = "localhost/regatta:1"
FOLDERS = ("dev", "etc", "lib", "lib64", "proc", "run", "sys", "tmp", "usr")
SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache")


@dataclass(frozen=True)
class Engine:
    name: str
    path: str
    version: str
    runtime: str

    def command(self, *words: str) -> list[str]:
        return [self.path, *words]

    def run(self, *words: str, stdin: bytes = b"") -> str:
        """Returns what it prints; PlacementError with its last line if it fails."""
        try:
            return run_tool(self.command(*words), stdin, TIMEOUT_S).strip()
        except PlacementError as error:
            raise PlacementError(f"{self.name}: {error}") from error

    @property
    def text(self) -> str:
        return f"{self.name} {self.version}"


def find_engine(wanted: str | None = None) -> Engine:
    """The wanted engine, or the first that works; PlacementError with the reasons if none does."""
    reasons: list[str] = []
    for name in (PODMAN, DOCKER) if wanted is None else (wanted,):
        path = find_tool(name)
        if path is None:
            reasons.append(f"{name} is not installed")
            continue
        try:
            said = Engine(name, path, "", "").run("info", "--format", VERSION[name])
        except PlacementError as error:
            reasons.append(str(error))
            continue
        version, _, runtime = said.partition(" ")
        return Engine(name, path, version, runtime)
    raise PlacementError(f"no container engine works here ({'; '.join(reasons)}); {INSTALL}")


def make_image(engine: Engine) -> None:
    """Creates our image, unless the engine has it from an earlier race."""
    if has_image(engine, IMAGE):
        return
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
    engine.run("import", "-", IMAGE, stdin=packed.getvalue())


def mount(path: Path | str, *, read_only: bool = True) -> list[str]:
    """Mounts a path under the same path, so that none has to be translated."""
    source = Path(path).resolve()
    return ["--mount", f"type=bind,source={source},target={path}{',readonly' * read_only}"]


def mount_system() -> list[str]:
    """Options that give our image this machine's programs and libraries."""
    return [word for path in SYSTEM if Path(path).exists() for word in mount(path)]


def has_image(engine: Engine, name: str) -> bool:
    try:
        engine.run("image", "inspect", "--format", "{{.Id}}", name)
    except PlacementError:
        return False
    return True


def need_image(engine: Engine, name: str) -> None:
    """PlacementError if the engine does not have it."""
    if not has_image(engine, name):
        raise PlacementError(
            f"{engine.name} has no image {name}; {engine.name} pull {name}, or build it"
        )
