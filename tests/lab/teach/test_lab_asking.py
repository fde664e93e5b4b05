"""The steps that query a server: what they report about the student's output."""

import sys
from pathlib import Path

import pytest

from regatta.teach.lab.step import Lab
from regatta.teach.lab.steps.asking import BLOCKED, AskOnTwoCpus, AskWithMany
from tests.lab.fake_labs import lab_in

SUMMARY = "1 request to 127.0.0.1:7342 over 1 connection (burst, epoll, line): {}\n  elapsed 1 s\n"
COMPLAINT = "regatta-client: 1 of 1 requests failed\n"


def result_of(lab: Lab, outcome: str) -> tuple[str, ...]:
    step = AskWithMany()
    lab.path(step.many).write_text("10 requests to 127.0.0.1:7342\n")
    lab.path(step.behind).write_text(SUMMARY.format(outcome) + COMPLAINT)
    return step.result(lab).said


def test_a_timeout_behind_a_silent_client_is_the_expected_result(tmp_path: Path) -> None:
    assert result_of(lab_in(tmp_path), "0 answered, 1 timeout") == (BLOCKED,)


@pytest.mark.parametrize("outcome", ["answered", "0 answered, 1 connect"])
def test_any_other_outcome_is_reported_with_the_command_that_repeats_the_step(
    outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/regatta"])
    (said,) = result_of(lab_in(tmp_path), outcome)
    assert "a silent client" in said
    assert said.endswith(f": /somewhere/bin/regatta lab --again clients --out {tmp_path}")


def test_the_first_and_the_last_answer_come_before_the_summary(tmp_path: Path) -> None:
    lab = lab_in(tmp_path)
    step = AskWithMany()
    answers = [f"connection {n} of 3, answered in {n}.00 ms\n  rank pid\n\n" for n in (1, 2, 3)]
    lab.path(step.many).write_text("".join(answers) + SUMMARY.format("all answered"))
    lab.path(step.behind).write_text(SUMMARY.format("0 answered, 1 timeout"))
    many, _ = step.result(lab).printed
    assert many.output.splitlines()[:3] == [
        "connection 1 of 3, answered in 1.00 ms",
        "connection 3 of 3, answered in 3.00 ms",
        SUMMARY.format("all answered").splitlines()[0],
    ]


@pytest.mark.parametrize(
    ("outcome", "lacks"),
    [("all answered", False), ("11 answered, 9 timeout", False), ("0 answered, 1 connect", True)],
)
def test_the_output_of_a_client_without_a_server_does_not_count(
    outcome: str, lacks: bool, tmp_path: Path
) -> None:
    lab = lab_in(tmp_path)
    step = AskOnTwoCpus()
    assert step.missing_files(lab) == [step.apart, step.together]
    lab.path(step.apart).write_text(SUMMARY.format("all answered"))
    lab.path(step.together).write_text(SUMMARY.format(outcome))
    assert step.missing_files(lab) == ([step.together] if lacks else [])
