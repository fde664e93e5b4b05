"""The steps that query a server: what they report about the student's output."""

import sys
from pathlib import Path

import pytest

from regatta.teach.lab.step import Lab
from regatta.teach.lab.steps.counting import BLOCKED
from tests.lab.fake_labs import BY_NAME, lab_in

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
