"""The steps by hand: what they report about the student's output, and the table from one run."""

import sys
from pathlib import Path

import pytest

from regatta.show.view import Table
from regatta.teach.lab.step import Lab
from regatta.teach.lab.steps.counting import BLOCKED, winner_of_one_run
from tests.lab.fake_labs import BY_HAND, BY_NAME, count_by_hand, lab_in
from tests.lab.reports import cells

SUMMARY = "1 request to 127.0.0.1:7342 over 1 connection (burst, epoll, line): {}\n  elapsed 1 s\n"
COMPLAINT = "regatta-client: 1 of 1 requests failed\n"


def asked(folder: Path, many: str, behind: str) -> Lab:
    lab = lab_in(folder)
    for name, text in zip(BY_NAME["clients"].files(lab), (many, behind), strict=True):
        lab.path(name).write_text(text)
    return lab


@pytest.mark.parametrize("outcome", ["0 answered, 1 timeout", "answered"])
def test_only_a_timeout_behind_a_silent_client_is_the_expected_result(
    outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/regatta"])
    lab = asked(tmp_path, "10 requests to here\n", SUMMARY.format(outcome) + COMPLAINT)
    (said,) = BY_NAME["clients"].result_in(lab).said
    assert (said == BLOCKED) == ("timeout" in outcome)
    again = f": /somewhere/bin/regatta lab --again clients --out {tmp_path}"
    assert said == BLOCKED or said.endswith(again)


def test_the_first_and_the_last_answer_come_before_the_summary(tmp_path: Path) -> None:
    answers = [f"connection {n} of 3, answered in {n}.00 ms\n  rank pid\n\n" for n in (1, 2, 3)]
    whole = "".join(answers) + SUMMARY.format("all answered")
    lab = asked(tmp_path, whole, SUMMARY.format("0 answered, 1 timeout"))
    many, _ = BY_NAME["clients"].result_in(lab).printed
    assert many.output.splitlines()[:3] == [
        "connection 1 of 3, answered in 1.00 ms",
        "connection 3 of 3, answered in 3.00 ms",
        SUMMARY.format("all answered").splitlines()[0],
    ]


@pytest.mark.parametrize(
    ("outcome", "lacks"),
    [
        *(
            ("all answered", False),
            ("11 answered, 9 timeout", False),
            ("0 answered, 1 connect", True),
        ),
        ("0 answered, 1 timeout", False),
    ],
)
def test_the_output_of_a_client_without_a_server_does_not_count(
    outcome: str, lacks: bool, tmp_path: Path
) -> None:
    lab = lab_in(tmp_path)
    step = BY_NAME["cpus"]
    apart, together = step.files(lab)
    assert step.missing_files(lab) == [apart, together]
    lab.path(apart).write_text(SUMMARY.format("all answered"))
    lab.path(together).write_text(SUMMARY.format(outcome))
    assert step.missing_files(lab) == ([together] if lacks else [])


def titles(table: Table) -> list[str]:
    return [heading.title for heading in table.header]


def test_the_table_names_the_least_of_one_run(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    count_by_hand(lab, BY_HAND)
    path = tmp_path / "first/select-server.txt"
    path.write_text(path.read_text().replace("page-faults", "page-fault"))
    result = winner_of_one_run(lab)
    assert result.said == ("In this table thread-per-client needs the least server CPU time.",)
    (table,) = result.tables
    assert [row[:4] for row in cells(table)] == [
        ["iterative", "20.0", "12", "130"],
        ["thread-per-client", "14.0", "12", "130"],
        ["select", "16.5", "12", "not counted"],
    ]
    assert "instructions" not in titles(table)
    assert {len(row) for row in cells(table)} == {len(table.header)} == {6}
    assert table.says.endswith(" Not counted here: instructions.")


def test_a_table_without_figures_says_so(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    count_by_hand(lab, BY_HAND)
    for path in (tmp_path / "first").iterdir():
        path.write_text("nothing here\n")
    result = winner_of_one_run(lab)
    assert result.said == ("No file contains a server's CPU time: repeat this step.",)
