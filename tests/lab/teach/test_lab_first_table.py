"""The table from one run: which figures were counted, which could not be, and by whom."""

from pathlib import Path

import pytest

from regatta.show.view import Table
from regatta.teach.lab.steps.counting import MakeTable
from tests.lab.fake_labs import BY_HAND, count_by_hand, lab_in
from tests.lab.reports import cells


def titles(table: Table) -> list[str]:
    return [heading.title for heading in table.header]


def test_the_table_names_the_least_of_one_run(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    count_by_hand(lab, BY_HAND)
    result = MakeTable().result(lab)
    assert result.said == ("In this table thread-per-client needs the least server CPU time.",)
    (table,) = result.tables
    assert [row[:4] for row in cells(table)] == [
        ["iterative", "20.0", "12", "130"],
        ["thread-per-client", "14.0", "12", "130"],
        ["select", "16.5", "12", "130"],
    ]
    assert "instructions" not in titles(table)
    assert {len(row) for row in cells(table)} == {len(table.header)} == {6}
    assert table.says.endswith(" Not counted here: instructions.")
    (picture,) = result.pictures
    drawn = picture.spec["data"]["values"]
    assert [row["value"] for row in drawn] == [20.0, 14.0, 16.5]


def test_a_missing_figure_is_replaced_by_words(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    count_by_hand(lab, BY_HAND)
    path = tmp_path / "first/select-server.txt"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "page-faults" not in line))
    (table,) = MakeTable().result(lab).tables
    at = titles(table).index("page faults")
    assert [row[at] for row in cells(table)] == ["130", "130", "not counted"]


def test_a_counter_that_no_run_has_is_named_once(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    count_by_hand(lab, BY_HAND)
    for path in (tmp_path / "first").iterdir():
        path.write_text(f"{path.read_text()}\n   <not supported>      instructions\n")
    (table,) = MakeTable().result(lab).tables
    assert table.says.endswith(" Not supported here: instructions.")
    assert not [text for row in cells(table) for text in row if "supported" in text]


@pytest.mark.parametrize(
    ("by_hand", "says"),
    [
        ({}, None),
        ({"perf": True, "table": True}, ["by hand: iterative, thread-per-client and select ("]),
        ({"perf": True, "table": False}, ["by hand: iterative (", "by the lab: thread-per-client"]),
        ({"perf": False, "table": False}, ["by the lab: iterative, thread-per-client and select."]),
    ],
)
def test_the_first_table_says_which_figures_the_lab_counted(
    by_hand: dict[str, bool], says: list[str] | None, tmp_path: Path
) -> None:
    lab = lab_in(tmp_path, by_hand=by_hand)
    count_by_hand(lab, BY_HAND)
    (table,) = MakeTable().result(lab).tables
    assert table.says.count("Counted by ") == len(says or [])
    for words in says or []:
        assert f"Counted {words}" in table.says


def test_a_table_without_figures_says_so(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    count_by_hand(lab, BY_HAND)
    for path in (tmp_path / "first").iterdir():
        path.write_text("nothing here\n")
    result = MakeTable().result(lab)
    assert result.said == ("No file contains a server's CPU time: repeat this step.",)
    assert result.pictures == ()
