"""A server that could not read for longer than the idle timeout (a long scan, a paused machine): it
is late, not its clients, whose requests have arrived in time."""

import time

from tests.dialects import LINE
from tests.processes import stopped
from tests.servers import ListedDesign, Start
from tests.sockets import wait_until_arrived

CLIENTS, CLIENTS_OF_THEIR_OWN = 600, 40
"""More than any loop handles after one wait. The designs with a process or a thread per client make
them while the first ones are idle already, so they get fewer."""
TIMEOUT_S = 1.5
BEGINNING, REST = LINE.request(1)[:2], LINE.request(1)[2:]


def test_requests_that_arrived_in_time_are_answered_however_late(
    start: Start, design: ListedDesign
) -> None:
    """Half of the clients have begun their request before."""
    alone = design.name.endswith("-per-client")
    every = CLIENTS_OF_THEIR_OWN if alone else CLIENTS
    count = {"all": every, "workers": 2, "one": 1}[design.serves]
    timeout_ms = round(1000 * TIMEOUT_S)
    workers = design.workers(1) if design.serves == "all" else ()
    server = start("--idle-timeout", str(timeout_ms), *workers, "--work", "snapshot")
    with server.connect_many(count) as clients:
        for client in clients:
            client.sendall(LINE.request(1))
        for client in clients:
            assert len(LINE.read_answer(client)) == 1
        begun = clients[::2]
        for client in begun:
            client.sendall(BEGINNING)
        with stopped(server.process.pid):
            for client in clients:
                client.sendall(REST if client in begun else BEGINNING + REST)
            for client in clients:
                wait_until_arrived(client)
            time.sleep(TIMEOUT_S)
        for client in clients:
            assert len(LINE.read_answer(client)) == 1
    assert server.stop()["errors"]["timeout"] == 0
