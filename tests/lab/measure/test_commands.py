"""How the two programs are called for a cell, and where perf stands."""

from dataclasses import replace
from pathlib import Path

import pytest

from regatta.measure.perf import PARENT, Perf
from regatta.measure.places import placement
from regatta.measure.places.side import ProgramSpec, SidePlacement, whole_command
from regatta.measure.trial.load import PATIENCE_MS, client_command, load_timeout_s
from regatta.measure.trial.server import design_command
from regatta.record.cell import Cell
from tests.lab import fake_races

CELL = Cell("select", 1, "classic", "burst", 5, "thread", "line", 1, None, None, 2, 100)
PERF = Perf("/usr/bin/perf", None, ("task-clock",), None, None)
pytestmark = pytest.mark.usefixtures("programs_folder")


def called(tmp_path: Path, cell: Cell) -> tuple[str, str]:
    """The server's command line and the client's."""
    with placement.make_placement("loopback", [0], [0]) as place:
        setup = fake_races.trial_setup(tmp_path, place)
        return " ".join(design_command(setup, cell)), " ".join(
            client_command(setup, cell, "127.0.0.1:7", [])
        )


def test_a_backlog_is_the_servers_and_its_clients_are_patient(tmp_path: Path) -> None:
    server, client = called(tmp_path, CELL)
    assert "--backlog" not in server
    assert "--timeout" not in client
    server, client = called(tmp_path, replace(CELL, backlog=3))
    assert " --backlog 3 " in server
    assert f" --timeout {PATIENCE_MS} " in client


def test_the_lab_waits_longer_than_its_patient_client() -> None:
    assert load_timeout_s(CELL) * 1000 > PATIENCE_MS


def test_what_is_asked_is_one_of_three(tmp_path: Path) -> None:
    assert " -n 2 " in called(tmp_path, CELL)[1]
    _, client = called(tmp_path, replace(CELL, request="top 2 threads=1"))
    assert " --request top 2 threads=1 " in client
    assert " -n " not in client
    _, client = called(tmp_path, replace(CELL, dialect="http", path="/x"))
    assert " --path /x " in client
    assert " -n " not in client


@pytest.mark.parametrize("found", [PERF, Perf()], ids=["perf", "no perf"])
@pytest.mark.parametrize("counts_taskset", [False, True])
def test_perf_counts_taskset_if_it_comes_first(
    tmp_path: Path, found: Perf, counts_taskset: bool
) -> None:
    order = ProgramSpec(
        name="server",
        folder=tmp_path,
        program=["program"],
        perf=found,
        wanted=("task-clock",),
        whole=True,
        counts_taskset=counts_taskset,
    )
    command = whole_command(SidePlacement(("enter",), (4, 6)), order)
    counter = PARENT[-1] if found.path is None else found.path
    (pinning,) = (at for at, word in enumerate(command) if word.endswith("taskset"))
    assert command[pinning + 1 : pinning + 3] == ["-c", "4,6"]
    assert (command[0], command[-1]) == ("enter", "program")
    assert (command.index(counter) < pinning) == counts_taskset
