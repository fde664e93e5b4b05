"""The steps at the server: what they say of what a person has seen."""

import sys
from pathlib import Path

import pytest

from regatta.lab.step import Desk
from regatta.lab.steps.asking import NOBODY_SERVED, AskOnTwoCpus, AskWithMany
from tests.lab.labs import desk_in

SUMMARY = "1 request to 127.0.0.1:7342 over 1 connection (burst, epoll, line): {}\n  elapsed 1 s\n"
COMPLAINT = "regatta-client: 1 of 1 requests failed\n"


def kept_of(desk: Desk, outcome: str) -> tuple[str, ...]:
    step = AskWithMany()
    desk.path(step.many).write_text("10 requests to 127.0.0.1:7342\n")
    desk.path(step.behind).write_text(SUMMARY.format(outcome) + COMPLAINT)
    return step.keep(desk).said


def test_a_request_without_an_answer_is_what_was_to_be_seen(tmp_path: Path) -> None:
    assert kept_of(desk_in(tmp_path), "0 answered, 1 timeout") == (NOBODY_SERVED,)


@pytest.mark.parametrize("outcome", ["answered", "0 answered, 1 connect"])
def test_who_did_not_see_it_is_told_how_to_see_it(
    outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/regatta"])
    (said,) = kept_of(desk_in(tmp_path), outcome)
    assert "a silent client" in said
    assert said.endswith(f": /somewhere/bin/regatta lab --again clients --out {tmp_path}")


def test_the_first_and_the_last_to_be_answered_stand_before_the_summary(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    step = AskWithMany()
    answers = [f"connection {n} of 3, answered in {n}.00 ms\n  rank pid\n\n" for n in (1, 2, 3)]
    desk.path(step.many).write_text("".join(answers) + SUMMARY.format("all answered"))
    desk.path(step.behind).write_text(SUMMARY.format("0 answered, 1 timeout"))
    many, _ = step.keep(desk).printed
    assert many.output.splitlines()[:3] == [
        "connection 1 of 3, answered in 1.00 ms",
        "connection 3 of 3, answered in 3.00 ms",
        SUMMARY.format("all answered").splitlines()[0],
    ]


@pytest.mark.parametrize(
    ("outcome", "lacks"),
    [("all answered", False), ("11 answered, 9 timeout", False), ("0 answered, 1 connect", True)],
)
def test_a_client_that_found_no_server_has_not_done_the_step(
    outcome: str, lacks: bool, tmp_path: Path
) -> None:
    desk = desk_in(tmp_path)
    step = AskOnTwoCpus()
    assert step.lacking(desk) == [step.apart, step.together]
    desk.path(step.apart).write_text(SUMMARY.format("all answered"))
    desk.path(step.together).write_text(SUMMARY.format(outcome))
    assert step.lacking(desk) == ([step.together] if lacks else [])
