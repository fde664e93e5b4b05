"""A race with `whole_cost`: start-up time and memory, of a server whose cost is known."""

import json
import sys
from pathlib import Path

import pytest

from regatta.measure.accounts import memory
from regatta.record.counters import KERNEL_MEMORY, MEMORY, MEMORY_AT_REST, START_UP
from tests.commands import run
from tests.e2e.racing import environment, needs_programs, race, regatta, study
from tests.ledgers import rows

pytestmark = needs_programs

START_UP_S, AT_REST_MIB, IDLE = 0.4, 40, 10
MANY_IDLE = 500
"""A server's share of the pages that it has in common with others moves by 400 KiB, as tests beside
this one start the same program."""
MIB = 2**20
STACK = 2**14
SERVER = f"""
import http.server, os, sys, time
time.sleep({START_UP_S})
held = [os.urandom({AT_REST_MIB} << 20)]
if not os.fork():  # it shares all of it
    time.sleep(600)

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def setup(self):
        super().setup()
        self.held = os.urandom(1 << 20)
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"hi")
    def log_message(self, *_):
        pass

http.server.ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), Handler).serve_forever()
"""
LOAD = """
path = "/healthz"
dialect = "http"
work = "snapshot"
load = "open"
rate = 100
connections = 2
duration_s = 0.2
"""
CELLS = f"""
[contenders.known]
command = ["{sys.executable}", "{{folder}}/server.py", "{{port}}"]
[[cells]]
contenders = ["known"]
idle = [0, {IDLE}]
{LOAD}
[[cells]]
designs = ["epoll"]
idle = [0, {MANY_IDLE}]
{LOAD}
"""


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cost")
    (folder / "server.py").write_text(SERVER)
    return race(folder, study(CELLS, whole_cost="true"))


def counter(folder: Path, contender: str, event: str, idle: int = 0) -> float:
    query = (
        "SELECT value FROM counter JOIN trial ON trial.id = trial_id JOIN cell ON cell.id = cell_id"
        f" WHERE contender = '{contender}' AND event = '{event}' AND idle = {idle}"
    )
    ((found,),) = rows(folder, query)
    return found


def test_start_up_lasts_until_the_first_answer(raced: Path) -> None:
    assert counter(raced, "known", START_UP) > START_UP_S * 1000
    assert 0 < counter(raced, "epoll", START_UP) < counter(raced, "known", START_UP)


def test_shared_memory_counts_once(raced: Path) -> None:
    at_rest = counter(raced, "known", MEMORY_AT_REST)
    assert AT_REST_MIB * MIB < at_rest < 2 * AT_REST_MIB * MIB


def test_memory_is_read_while_the_idle_connections_are_open(raced: Path) -> None:
    without, beside = (counter(raced, "known", MEMORY, idle) for idle in (0, IDLE))
    assert beside - without > 0.7 * IDLE * MIB


def test_kernel_memory_has_the_stacks_of_the_connections_threads(raced: Path) -> None:
    group = memory.make_kernel_group()
    if group is None:
        pytest.skip("version 1 of the memory controller is not to be had")
    group.close()
    without, beside = (counter(raced, "known", KERNEL_MEMORY, idle) for idle in (0, IDLE))
    assert 0.5 * IDLE * STACK < beside - without < 10 * IDLE * STACK


def test_memory_per_connection_is_a_slope(raced: Path) -> None:
    """A connection of the known server holds 1 MiB; one of epoll, less than a stack."""
    done = run(*regatta("report", raced, "--json"), env=environment())
    slopes = json.loads(done.stdout)["memory_per_connection"]
    found = {(slope["contender"], slope["metric"]): slope["kib"] for slope in slopes}
    assert found["known", "memory_mib"]["value"] == pytest.approx(1024, rel=0.3)
    assert abs(found["epoll", "memory_mib"]["value"]) < STACK / 1024
    assert "Memory per idle connection" in (raced / "report.html").read_text()
