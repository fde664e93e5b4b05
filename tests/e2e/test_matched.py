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
    # Half a millisecond of CPU time for each request.
    cpus = rows(equal, "SELECT json_extract(value, '$.server_cpus') FROM environment")
    most = max(len(str(text).split(",")) for (text,) in cpus if text)
    assert 100 <= held <= 2_100 * most
