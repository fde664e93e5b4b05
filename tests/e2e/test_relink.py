"""Relinking the server in another order: same functions, same sizes, other addresses."""

import subprocess
from pathlib import Path

import pytest

from regatta.measure.programs import query
from regatta.measure.race import relink
from regatta.measure.race.relink import functions, relink_all

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "bin" / "regatta-server"
ORDERS = {1: 11, 2: 22}

pytestmark = pytest.mark.skipif(not SERVER.exists(), reason="not built: make build")


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    return relink_all(SERVER, ORDERS, tmp_path_factory.mktemp("relinked") / "servers")


def code_bytes(program: Path) -> int:
    listed = subprocess.run(["size", program], capture_output=True, text=True, check=True).stdout
    return int(listed.splitlines()[1].split()[0])


def sizes(program: Path) -> dict[str, int]:
    """Size of every function by name; equal names are added up."""
    command = ["nm", "--defined-only", "--print-size", str(program)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, int] = {}
    for row in (line.split() for line in listed.splitlines()):
        if len(row) == 4 and row[2] in relink.FUNCTIONS:
            found[row[3]] = found.get(row[3], 0) + int(row[1], 16)
    return found


def reordered(program: Path) -> set[str]:
    """The functions in the given order: ours, without those of libraries."""
    command = ["objdump", "--syms", "--section", ".text.drawn", str(program)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if " F " in line}


def neighbours(program: Path, among: set[str]) -> set[tuple[str, str]]:
    found = [name for name in functions(program) if name in among]
    return set(zip(found, found[1:], strict=False))


def test_the_functions_are_in_another_order(linked: dict[int, Path]) -> None:
    assert set(linked) == {1, 2}
    programs = [SERVER, *linked.values()]
    ours = reordered(linked[1])
    assert reordered(linked[2]) == ours
    assert len(ours) > 100
    for at, program in enumerate(programs):
        for other in programs[at + 1 :]:
            kept = neighbours(program, ours) & neighbours(other, ours)
            assert len(kept) < 0.1 * len(ours)


def test_everything_else_is_the_same(linked: dict[int, Path]) -> None:
    first = sizes(linked[1])
    assert first == sizes(linked[2])
    assert abs(code_bytes(linked[1]) - code_bytes(linked[2])) <= 0.001 * code_bytes(SERVER)
    assert abs(code_bytes(linked[1]) - code_bytes(SERVER)) <= 0.02 * code_bytes(SERVER)
    assert set(sizes(SERVER)) - set(first) == set()
    for program in linked.values():
        for question in (("--version",), ("--list-designs", "--json")):
            assert query(program, *question) == query(SERVER, *question)
