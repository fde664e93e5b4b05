"""A folder of src/ includes headers of those below it only, and each header stands alone."""

import re
from pathlib import Path

import pytest

from tests.commands import run_well

SOURCES = Path(__file__).resolve().parents[2] / "src"
FILES = [path for path in SOURCES.rglob("*.[ch]") if path.parent.parent.name != "bpf"]
"""All but programs for the kernel."""

SERVICE = ("service/top", "service/procfs", "service/bpf", "service/source", "service/history")
SERVER = ("server", "server/metrics", "server/connection", "server/workers", "server/loops")
CLIENT = ("client/reply", "client/load", "client/engines")
LAYERS = [
    ("base", *SERVICE, "service", "service/exchange", *SERVER, "server/uring", "server/designs"),
    ("base", "server/sandbox"),
    ("base", *CLIENT),
    ("base", "client/reply", "client/load", "client/results"),
    ("base", "client/reply", "watch"),
]
"""Each folder may include those before it."""


def included(file: Path) -> set[str]:
    """The folders whose headers it includes."""
    return set(re.findall(r'^#include "(.+)/\w+\.h"', file.read_text(), re.MULTILINE))


@pytest.mark.parametrize("layers", LAYERS, ids=lambda layers: layers[-1])
def test_a_folder_includes_only_what_is_below_it(layers: tuple[str, ...]) -> None:
    for place, folder in enumerate(layers):
        files = list((SOURCES / folder).glob("*.[ch]"))
        assert files
        for file in files:
            assert included(file) - set(layers[: place + 1]) == set(), file


def test_every_folder_has_its_layer() -> None:
    folders = {str(file.parent.relative_to(SOURCES)) for file in FILES}
    assert folders == {"programs", *(folder for layers in LAYERS for folder in layers)}


def test_each_header_can_be_included_alone() -> None:
    headers = [str(file) for file in FILES if file.suffix == ".h"]
    flags = ("-std=gnu17", "-D_GNU_SOURCE", "-w", f"-I{SOURCES}", "-fsyntax-only", "-x", "c")
    run_well("cc", *flags, *headers, cwd=SOURCES)
