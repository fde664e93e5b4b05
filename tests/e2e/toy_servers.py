"""Servers that burn a known share of CPU more than they need."""

from pathlib import Path

from tests.commands import run_well

SOURCE = Path(__file__).with_name("toy_server.c")


def build_toy(folder: Path) -> Path:
    program = folder / "toy-server"
    run_well("cc", "-O2", "-o", program, SOURCE)
    return program


def versions(program: Path | str, percent: float) -> tuple[str, ...]:
    """The options for a head that takes so much more than its base."""
    return ("--base", f"{program} {{port}}", "--head", f"{program} {{port}} {percent:g}")
