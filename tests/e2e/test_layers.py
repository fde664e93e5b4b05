"""A folder of src/ can include only the headers of the libraries that it depends on."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.commands import run
from tests.servers import built

BUILD = Path(built("."))
UNITS = [
    unit
    for unit in json.loads((BUILD / "compile_commands.json").read_text())
    if re.match(r"\.\./src/\w+/\w+\.c$", unit["file"])
]


def folder_of(file: str) -> str:
    return Path(file).parent.name


def visible(command: str) -> set[str]:
    """The folders whose headers are on its include path."""
    return set(re.findall(r"-Isrc/headers/(\w+)", command))


def test_no_two_folders_include_each_other() -> None:
    sees = {folder_of(unit["file"]): visible(unit["command"]) for unit in UNITS}
    assert len(sees) > 10
    for folder, others in sees.items():
        assert folder in others
        assert [other for other in others - {folder} if folder in sees[other]] == []


@pytest.mark.parametrize(
    ("unit", "header", "is_visible"),
    [
        ("connection/log.c", "base/text.h", True),
        ("connection/log.c", "designs/design_table.h", False),
        ("server/listener.c", "connection/accept.h", False),
        ("procfs/procfs.c", "source/source.h", False),
        ("base/clock.c", "server/server.h", False),
        ("load/load.c", "watch/watch.h", False),
        ("watch/host.c", "load/load.h", False),
    ],
)
def test_an_include_from_a_higher_layer_does_not_compile(
    unit: str, header: str, is_visible: bool
) -> None:
    source = f"../src/{unit}"
    (command,) = (each["command"] for each in UNITS if each["file"] == source)
    flags = [word for word in shlex.split(command) if word.startswith(("-I", "-D", "-std"))]
    done = run("cc", *flags, "-fsyntax-only", "-include", header, source, cwd=BUILD)
    assert (done.returncode == 0) == is_visible
    assert is_visible or f"{header}: No such file" in done.stderr
