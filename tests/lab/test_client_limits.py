"""What a client calls its own limit is what the lab calls so."""

import re
from pathlib import Path

import pytest

from regatta.measure.accounts import disturbance
from regatta.record import rate_search

CLIENT = Path(__file__).resolve().parents[2] / "src" / "client" / "results" / "client_bound.c"


@pytest.mark.parametrize(
    ("name", "of_the_lab"),
    [
        ("CPU_SHARE_LIMIT", disturbance.CPU_SHARE_LIMIT),
        ("STARTED_LIMIT", rate_search.STARTED_LIMIT),
    ],
)
def test_the_client_and_the_lab_draw_the_same_line(name: str, of_the_lab: float) -> None:
    values = re.findall(rf"^static const double {name} = (.+);$", CLIENT.read_text(), re.MULTILINE)
    assert [float(value) for value in values] == [of_the_lab]
