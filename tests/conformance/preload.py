"""Libraries to preload into a server: they stand between it and the kernel."""

import functools
import subprocess
from pathlib import Path

from tests.servers import PATIENCE_S, needs
from tests.users import open_folder

HERE = Path(__file__).parent


@functools.cache
def preloaded(name: str, sources: Path = HERE) -> str:
    """Builds the library once, where every user may read it. Returns its path."""
    library = open_folder() / f"{name}.so"
    command = [needs("gcc"), "-shared", "-fPIC", "-o", str(library), str(sources / f"{name}.c")]
    subprocess.run(command, check=True, timeout=PATIENCE_S)
    return str(library)
