"""Every design under every attack: other clients are served, and nothing leaks."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.hostile.cases import CASES, Case, cannot
from tests.hostile.window import attacked, measure, served
from tests.reliability.state import read_state
from tests.servers import ListedDesign, runnable
from tests.waiting import wait_until

SECONDS = 2.0
every_design = pytest.mark.parametrize("design", runnable(), ids=lambda design: design.name)
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
pytestmark = pytest.mark.long


def need(case: Case) -> None:
    if why := case.missing():
        pytest.skip(why)


@every_case
@every_design
def test_ordinary_clients_are_answered_during_an_attack(
    design: ListedDesign, case: Case, tmp_path: Path
) -> None:
    need(case)
    if why := cannot(design, case):
        pytest.skip(why)
    window = measure(design, case, SECONDS, tmp_path)
    assert window.attackers >= case.fewest_attackers, window
    # A request that is due while the host has the CPU may start after the window.
    late = window.errors["unstarted"]
    assert window.unanswered == late <= window.asked / 100, window


@every_case
@every_design
def test_after_an_attack_it_serves_and_has_no_more_open_files(
    design: ListedDesign, case: Case, tmp_path: Path
) -> None:
    need(case)
    with served(design, made_bearable(design, case), tmp_path) as server:
        server.connect_when_there_is_room().close()
        before = read_state(server.process.pid).descriptors
        with attacked(server, case):
            pass
        for _ in range(10):
            server.connect_when_there_is_room().close()
        wait_until(
            lambda: read_state(server.process.pid).descriptors <= before, "descriptors have leaked"
        )


def made_bearable(design: ListedDesign, case: Case) -> Case:
    """The server does not see that these clients have vanished: each of 4,096 in the listen queue
    holds a worker for the idle timeout."""
    if design.serves == "all" or case.command != ("vanishes",):
        return case
    return replace(case, server_options=("--idle-timeout", "10"))
