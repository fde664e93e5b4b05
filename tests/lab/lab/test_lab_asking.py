"""The steps at the server: what they say of what a person has seen."""

import sys
from pathlib import Path

import pytest

from regatta.lab.step import Desk
from regatta.lab.steps.asking import NOBODY_SERVED, AskWithMany
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
