"""The kernel's build configuration, where the distribution publishes it."""

import gzip
import zlib
from pathlib import Path

from regatta.measure.processes import read_text

ROOT = Path("/")
NOT_SET = "n"
WITHOUT_IRQ_TIME = "tsc=noirqtime"


def irq_time_accounting(root: Path = ROOT) -> bool | None:
    """Whether interrupt time is accounted separately, so that no task is charged for it.

    None: unknown. The kernel may also turn it off at run time if its clock is unstable; that cannot
    be read.
    """
    built = setting("CONFIG_IRQ_TIME_ACCOUNTING", root)
    if built is None:
        return None
    return built == "y" and WITHOUT_IRQ_TIME not in (read_text(root / "proc/cmdline") or "").split()


def setting(name: str, root: Path = ROOT) -> str | None:
    """The value of a setting, `n` if it is not set; None where the configuration is missing."""
    lines = configuration(root).splitlines()
    if f"# {name} is not set" in lines:
        return NOT_SET
    return next((line.partition("=")[2] for line in lines if line.startswith(f"{name}=")), None)


def configuration(root: Path = ROOT) -> str:
    """The running kernel's configuration; empty where it is not found."""
    release = read_text(root / "proc/sys/kernel/osrelease") or ""
    try:
        return gzip.decompress((root / "proc/config.gz").read_bytes()).decode(errors="replace")
    except (OSError, EOFError, zlib.error):
        files = (root / f"boot/config-{release}", root / f"lib/modules/{release}/config")
        return next((text for path in files if (text := read_text(path))), "")
