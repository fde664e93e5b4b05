"""Designs can be compared side by side: similar designs have similar source files."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.servers import table

SOURCES = Path(__file__).resolve().parents[2] / "src" / "server" / "designs"
FILES = {design.name: SOURCES / f"{design.name.replace('-', '_')}.c" for design in table()}
LINES = 250
CHANGED_LINES = 60
POLLERS = ("select", "poll", "epoll")


def functions(file: Path) -> list[str]:
    """Names of the functions of a file, in order."""
    return re.findall(r"^(?:static )?[a-z].*?(\w+)\([^;{]*\) \{$", file.read_text(), re.MULTILINE)


def test_the_folder_contains_the_designs_and_their_table_only() -> None:
    assert set(SOURCES.glob("*.c")) == {*FILES.values(), SOURCES / "design_table.c"}


@pytest.mark.parametrize("name", FILES)
def test_a_design_is_one_short_file(name: str) -> None:
    text = FILES[name].read_text()
    assert f'.name = "{name}"' in text
    assert len(text.splitlines()) <= LINES


@pytest.mark.parametrize(
    ("one", "other"), [("select", "poll"), ("poll", "epoll"), ("select", "epoll")]
)
def test_similar_designs_differ_in_few_lines(one: str, other: str) -> None:
    compared = subprocess.run(
        ["diff", "-u", FILES[one], FILES[other]], check=False, capture_output=True, text=True
    )
    _, _, *lines = compared.stdout.splitlines()
    assert 0 < sum(line.startswith(("-", "+")) for line in lines) <= CHANGED_LINES


def test_pollers_have_the_same_functions_in_the_same_order() -> None:
    for name in POLLERS:
        expected = ["watch", "wait_ready", "serve_ready", f"{name}_run", "run"]
        assert functions(FILES[name]) == expected
