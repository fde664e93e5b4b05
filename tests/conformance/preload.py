"""Libraries of this folder, to be preloaded into a server: they stand between it and the kernel."""

import subprocess
from pathlib import Path

from tests.servers import PATIENCE_S, needs


def preloaded(name: str, folder: Path) -> Path:
    """Builds it there; returns its path."""
    library = folder / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    command = [needs("gcc"), "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True, timeout=PATIENCE_S)
    return library
