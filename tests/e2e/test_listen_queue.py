"""A server that accepts late and lets few wait: the others' kernels ask again after a second."""

from pathlib import Path

from tests.e2e.racing import needs_programs, race, study
from tests.ledgers import rows

CLIENTS = 12
SERVED_S = 0.02
CELLS = f"""
[[cells]]
designs = ["iterative"]
connections = {CLIENTS}
work = "wait={SERVED_S * 1000:g}ms"
engine = "thread"
scope = "process"
rounds = 1
"""

pytestmark = needs_programs


def test_clients_that_find_the_queue_full_ask_again_after_a_second(tmp_path: Path) -> None:
    """Only 3 + 1 wait beside the one who is served, which takes longer than all need to come."""
    folder = race(tmp_path, study(f"{CELLS}backlog = 3\n{CELLS}", 2), "--no-perf")
    query = (
        "SELECT backlog, status, reason, json_extract(client, '$.elapsed_ns') / 1e9 "
        "FROM trial JOIN cell ON cell.id = cell_id"
    )
    found = rows(folder, query)
    assert len(found) == 4
    for backlog, status, reason, elapsed_s in found:
        assert (status, reason) == ("ok", None)
        assert isinstance(elapsed_s, float)
        if backlog is None:
            assert CLIENTS * SERVED_S < elapsed_s < 0.95
        else:
            assert elapsed_s > 0.95
