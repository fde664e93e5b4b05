"""Designs can be compared side by side: each is one short file, and similar ones differ little."""

import subprocess

import pytest

from tests.servers import REPOSITORY, table

FILES = {path.stem: path for path in (REPOSITORY / "src").glob("**/designs/*.c")}
LINES = 250
CHANGED_LINES = 60


def test_a_design_is_one_short_file() -> None:
    long = {name: path for name, path in FILES.items() if path.read_text().count("\n") > LINES}
    assert long == {}
    assert {design.name.replace("-", "_") for design in table()} <= set(FILES)


@pytest.mark.parametrize(
    ("one", "other"), [("select", "poll"), ("poll", "epoll"), ("select", "epoll")]
)
def test_similar_designs_differ_in_few_lines(one: str, other: str) -> None:
    command = ["diff", "-u", FILES[one], FILES[other]]
    compared = subprocess.run(command, check=False, capture_output=True, text=True)
    changed = [line for line in compared.stdout.splitlines()[2:] if line.startswith(("-", "+"))]
    assert 0 < len(changed) <= CHANGED_LINES
