"""The state of a lab: it is read as it was saved, and damage is reported."""

from pathlib import Path

import pytest

from regatta.errors import RegattaError
from regatta.show.view import Chart, Panel, plain_table
from regatta.teach.lab.state import (
    FILE,
    CommandOutput,
    LabSetting,
    LabState,
    StepResult,
    load_state,
    save_state,
)

KEPT = StepResult(
    said=("It is so.",),
    printed=(CommandOutput("nc", "rank\n1"),),
    tables=(plain_table("a table", "says", ["design", "µs"], [["epoll", "1.2"]]),),
    charts=(Chart("first", "a chart", "says", (Panel("", "", {"data": {"values": [1]}}),)),),
)
FULL = LabState(
    LabSetting(("epoll", "select"), 3, "snapshot", True),
    "epoll",
    {"table": KEPT},
)


@pytest.mark.parametrize("state", [LabState(LabSetting()), FULL])
def test_a_saved_state_is_read_back(state: LabState, tmp_path: Path) -> None:
    save_state(tmp_path, state)
    assert load_state(tmp_path) == state
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


DAMAGED = '{"version": 4, "setting": {"connections": "many"}}'


def test_a_folder_without_a_state_has_no_lab(tmp_path: Path) -> None:
    assert load_state(tmp_path) is None
    assert load_state(tmp_path / "nowhere") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"version": 1}', r"another version .*\(version 1, not 4\).*--out"),
        *((text, "damaged .*--out") for text in ("", "{", '{"version": 4}', DAMAGED)),
    ],
)
def test_another_state_is_refused_in_one_line(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(RegattaError, match=words) as raised:
        load_state(tmp_path)
    assert "\n" not in str(raised.value)
