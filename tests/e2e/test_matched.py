"""Matched loads with the real programs: the rate that each holds, then a race at equal rates."""

from pathlib import Path

import pytest

from tests.e2e.racing import PRIORITY, alone, needs_programs, race, study
from tests.ledgers import rows

EQUAL = """
[contenders.dead]
command = ["false", "{port}"]
[[cells]]
designs = ["epoll", "thread-per-client"]
contenders = ["dead"]
connections = 4
work = "spin=500us"
dialect = "http"
duration_s = 0.2
p99_limit_ms = 10_000
shares = [0.2, 0.4]
knee = true
"""

pytestmark = needs_programs


@pytest.fixture(scope="module")
def equal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = study(EQUAL, blocks=2, search_blocks=2)
    with alone():
        return race(tmp_path_factory.mktemp("equal"), text, prefix=PRIORITY)


def test_both_race_at_the_same_rates_despite_a_dead_contender(equal: Path) -> None:
    rates = rows(equal, "SELECT contender, rate FROM cell WHERE load = 'open' ORDER BY id")
    of_each = {name: [rate for who, rate in rates if who == name] for name, _ in rates}
    assert set(of_each) == {"epoll", "thread-per-client"}
    assert of_each["epoll"] == of_each["thread-per-client"]
    assert len(set(of_each["epoll"])) == 2
    assert rows(equal, "SELECT count(*) FROM trial WHERE status = 'ok'") == [(8,)]
    (why,) = rows(equal, "SELECT DISTINCT why_not FROM probe WHERE search_id = 3")
    assert str(why[0]).startswith("failed: the server exited before it was ready")


def test_the_rate_held_is_possible_with_this_work(equal: Path) -> None:
    query = "SELECT max(rate) FROM probe WHERE why_not IS NULL AND kind = 'search'"
    (held,) = rows(equal, query)[0]
    assert isinstance(held, int)
    # Half a millisecond of CPU time for each request.
    cpus = rows(equal, "SELECT json_extract(value, '$.server_cpus') FROM environment")
    most = max(len(str(text).split(",")) for (text,) in cpus if text)
    assert 100 <= held <= 2_100 * most


def test_the_report_has_the_rates_held_and_the_knee_chart(equal: Path) -> None:
    page = (equal / "report.html").read_text()
    assert 'data-chart="knee-p50-0"' in page
    assert "dead" in page
    lines = (equal / "summary.csv").read_text().splitlines()
    held = [line for line in lines if "held_rate_per_s" in line]
    assert [line.partition(",")[0] for line in held] == ["thread-per-client", "epoll", "dead"]
    assert "holds nothing" in held[2]
    # Latency was measured at all shares of the rate that a contender holds.
    shares = rows(equal, "SELECT search_id, count(DISTINCT share) FROM probe GROUP BY search_id")
    assert shares == [(1, 6), (2, 6), (3, 0)]
