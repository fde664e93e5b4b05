"""The table from one run: which figures were counted, which could not be, and by whom."""

from pathlib import Path

from regatta.show.view import Table
from regatta.teach.lab.steps.counting import winner_of_one_run
from tests.lab.fake_labs import BY_HAND, count_by_hand, lab_in
from tests.lab.reports import cells


def titles(table: Table) -> list[str]:
    return [heading.title for heading in table.header]


def test_the_table_names_the_least_of_one_run(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    count_by_hand(lab, BY_HAND)
    result = winner_of_one_run(lab)
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


def test_a_missing_figure_is_replaced_by_words(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    count_by_hand(lab, BY_HAND)
    path = tmp_path / "first/select-server.txt"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "page-faults" not in line))
    (table,) = winner_of_one_run(lab).tables
    at = titles(table).index("page faults")
    assert [row[at] for row in cells(table)] == ["130", "130", "not counted"]


def test_a_table_without_figures_says_so(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    count_by_hand(lab, BY_HAND)
    for path in (tmp_path / "first").iterdir():
        path.write_text("nothing here\n")
    result = winner_of_one_run(lab)
    assert result.said == ("No file contains a server's CPU time: repeat this step.",)
