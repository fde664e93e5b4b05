"""Race results for a contender that is too slow for the rate or faster than the client."""

import csv
import math
import sys
from pathlib import Path

from tests.e2e.racing import needs_programs, race, study
from tests.lab.reports import summary_json

pytestmark = needs_programs


def test_a_race_at_three_times_the_capacity_has_no_percentile_below_the_truth(
    tmp_path: Path,
) -> None:
    """One client at a time, 10 ms each: the k-th request cannot be served before 10 k ms, however
    busy the machine is."""
    cells = """
        [[cells]]
        designs = ["iterative"]
        connections = [1]
        work = "wait=10ms"
        load = "open"
        rate = [300]
        duration_s = 0.6
    """
    folder = race(tmp_path, study(cells, blocks=2), "--no-perf")
    with (folder / "summary.csv").open(newline="") as file:
        metrics = {row["metric"]: row for row in csv.DictReader(file) if row["side"] == "client"}
    # All percentiles are among the two thirds that did not start, so they are lower bounds.
    truth_ms = sorted((k + 1) * 10 - k * 1000 / 300 for k in range(180))
    for name, fraction in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
        row = metrics[f"latency_{name}_ms"]
        assert (row["value"], row["high"], row["state"]) == ("", "", "over")
        assert 0 < float(row["low"]) < truth_ms[math.ceil(180 * fraction) - 1]
        assert float(row["started_share"]) < 0.36
        assert row["says"].startswith("does not hold the rate: started ")
    assert "does not hold the rate" in (folder / "summary.md").read_text()


SLOW = """
import asyncio
import sys


async def serve(reader, writer):
    reply = b"HTTP/1.1 200 OK\\r\\nContent-Type: text/plain\\r\\nContent-Length: 3\\r\\n\\r\\nok\\n"
    while await reader.readuntil(b"\\r\\n\\r\\n"):
        writer.write(reply)


async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    server = await asyncio.start_server(serve, host, int(port))
    print("ready", flush=True)
    await server.serve_forever()


asyncio.run(main())
"""
OUTRUN = f"""
[contenders.asyncio]
command = ["{sys.executable}", "{{folder}}/slow.py", "{{host}}:{{port}}"]
dialect = "http"
ready = "line"
ready_line = "ready"
[[cells]]
designs = ["epoll"]
contenders = ["asyncio"]
work = "snapshot"
load = "closed"
per_connection = 0
duration_s = 0.3
connections = [8]
dialect = "http"
path = "/healthz"
"""


def test_a_client_bound_server_has_no_slower_winner_above_it(tmp_path: Path) -> None:
    """Whether epoll is client-bound depends on the machine; asyncio never wins."""
    (tmp_path / "slow.py").write_text(SLOW)
    folder = race(tmp_path, study(OUTRUN.replace("{folder}", str(tmp_path)), blocks=6))
    (group,) = summary_json(folder / "ledger.sqlite")["groups"]
    cells = {cell["contender"]: cell for cell in group["cells"]}
    used = {
        name: cell["metrics"]["server"]["cpu_time_per_request_us"] for name, cell in cells.items()
    }
    assert used["epoll"]["value"] is not None, "its level is known even if it is client-bound"
    assert used["epoll"]["value"] < used["asyncio"]["value"]
    state = used["epoll"]["state"]
    bound = cells["epoll"]["trials_client_bound"]
    assert state in {"measured", "client-bound", "disturbed"}
    assert state != "measured" or bound < cells["epoll"]["trials_ok"]
    assert state != "client-bound" or bound > 0
    assert state != "disturbed" or cells["epoll"]["trials_held_up"] > 0
    verdict = group["overall"]
    # On a busy machine epoll may not be shown to be better.
    assert list(verdict["best"])[:1] == (["epoll"] if state == "measured" else [])
    assert verdict["rivals"] == ({} if state == "measured" else {"epoll": state})
