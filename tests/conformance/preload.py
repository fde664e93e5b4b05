"""Libraries to be preloaded into a server: they stand between it and the kernel."""

import subprocess
from pathlib import Path

from tests.servers import PATIENCE_S, needs

HERE = Path(__file__).parent


def preloaded(name: str, folder: Path, sources: Path = HERE) -> Path:
    """Builds it there; returns its path."""
    library = folder / f"{name}.so"
    source = sources / f"{name}.c"
    command = [needs("gcc"), "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True, timeout=PATIENCE_S)
    return library
