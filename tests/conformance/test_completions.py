"""Designs on io_uring, when more is done in a turn than the ring of completions holds.

Their server here is ours, but that each turn that tells of a reply sent in part seems to be one."""

from pathlib import Path

import pytest

from tests.conformance.pipelining import HELD_LONG, check_that_all_is_answered
from tests.servers import built, running, table

RINGS = [row.name for row in table() if row.name.startswith("uring") and row.missing is None]


@pytest.mark.parametrize("ring", RINGS)
def test_what_went_only_in_part_is_sent_to_its_end(ring: str, tmp_path: Path) -> None:
    overflowing = built("tests/conformance/overflowing-server")
    with running(tmp_path, "--design", ring, *HELD_LONG, binary=overflowing) as server:
        check_that_all_is_answered(server)
