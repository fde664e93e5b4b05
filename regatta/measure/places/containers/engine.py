"""The container engine, podman or docker, and the image that our programs run in."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from regatta.errors import PlacementError
from regatta.measure.network.veth import run_tool
from regatta.measure.programs import find_tool, need_tool

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


# The image that our programs run in: it holds the libraries that they need, and nothing else. It is
# built from this machine's files, so nothing is pulled. The programs themselves are mounted, so a
# new build with the same libraries needs no new image. The image is named by the digest of its
# contents, and the engine keeps it for the next race.

NAME = "localhost/regatta"
FOLDERS = ("dev", "etc", "proc", "run", "sys", "tmp")
CACHE = Path("/etc/ld.so.cache")
"""The loader needs it for libraries outside its default folders."""
ELF = b"\x7fELF"
TOOL_TIMEOUT_S = 20


def libraries(program: Path) -> list[Path]:
    """The libraries that a program needs, with the loader; empty if it is static."""
    with program.open("rb") as file:
        if file.read(len(ELF)) != ELF:
            raise PlacementError(
                f"{program} is a script, and its interpreter is not in our image; give the "
                "contender an `image`"
            )
    ldd = need_tool("ldd", "libc-bin")
    run = subprocess.run(
        [ldd, str(program)],
        capture_output=True,
        text=True,
        timeout=TOOL_TIMEOUT_S,
        check=False,
        env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
    )
    if run.returncode != 0:
        return []  # a static program
    return parse_ldd(run.stdout, program)


def parse_ldd(text: str, program: Path) -> list[Path]:
    found: list[Path] = []
    for line in text.splitlines():
        name, _, rest = line.strip().partition(" => ")
        if rest.startswith("not found"):
            raise PlacementError(f"{program} lacks its library {name}; install it")
        path = (rest or name).split(" (")[0]
        if path.startswith("/"):
            found.append(Path(path))
    return found


def contents(programs: Iterable[Path], tools: Sequence[Path]) -> list[Path]:
    """All files of the image: the tools, and the libraries of tools and programs."""
    files = {path for program in (*programs, *tools) for path in libraries(program)}
    files |= {*tools}
    if CACHE.exists():
        files.add(CACHE)
    return sorted(files)


def pack(files: Sequence[Path]) -> bytes:
    """A tar of these files under the same paths; equal files give equal bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
        for path in files:
            data = path.read_bytes()
            entry = tarfile.TarInfo(str(path).lstrip("/"))
            entry.size, entry.mode = len(data), 0o755
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def make_image(engine: Engine, programs: Iterable[Path], tools: Sequence[Path]) -> str:
    """The name of an image that holds the libraries of these programs and tools."""
    packed = pack(contents(programs, tools))
    name = f"{NAME}:{hashlib.sha256(packed).hexdigest()[:16]}"
    if not has_image(engine, name):
        engine.run("import", "-", name, stdin=packed)
    return name


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
