"""A slow server with a short backlog: surplus clients retransmit their SYN."""

from pathlib import Path

from tests.e2e.racing import needs_programs, race, study
from tests.ledgers import rows

CLIENTS = 12
SERVED_S = 0.02
LATER_S = 0.1
"""A client connected by SYN cookie retransmits after 0.2 s, others after 1 s."""
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


def test_clients_that_find_the_backlog_full_retry_later(tmp_path: Path) -> None:
    """Only 3 + 1 fit into the backlog, and serving one takes longer than all need to connect."""
    folder = race(tmp_path, study(f"{CELLS}backlog = 3\n{CELLS}", 2), "--no-perf")
    query = (
        "SELECT backlog, status, reason, json_extract(client, '$.elapsed_ns') / 1e9 "
        "FROM trial JOIN cell ON cell.id = cell_id"
    )
    found = rows(folder, query)
    assert [row[1:3] for row in found] == [("ok", None)] * 4
    took_s: dict[object, list[float]] = {}
    for backlog, _, _, elapsed_s in found:
        took_s.setdefault(backlog, []).append(float(elapsed_s))
    assert min(took_s[None]) > CLIENTS * SERVED_S
    # The minimum of two, because a busy machine may delay one.
    assert min(took_s[3]) > min(took_s[None]) + LATER_S
