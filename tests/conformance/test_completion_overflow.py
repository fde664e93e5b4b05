"""Designs on io_uring when the completion ring overflows.

The server under test is ours, except that each batch with a partial send counts as an overflow."""

from pathlib import Path

import pytest

from tests.conformance.pipelining import check_all_answered
from tests.servers import ONE_SNAPSHOT, built, running, table

RINGS = [row.name for row in table() if row.name.startswith("uring") and row.missing is None]


@pytest.mark.parametrize("ring", RINGS)
def test_a_partially_sent_reply_is_completed(ring: str, tmp_path: Path) -> None:
    overflowing = built("tests/conformance/overflowing-server")
    with running(tmp_path, "--design", ring, *ONE_SNAPSHOT, binary=overflowing) as server:
        check_all_answered(server)
