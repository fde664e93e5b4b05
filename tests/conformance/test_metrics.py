"""/metrics covers all workers, whichever of them answers the request."""

import pytest

from tests.conformance.preload import preloaded
from tests.http_replies import only_reply
from tests.metrics import OPENMETRICS, labels, samples, samples_of, value
from tests.processes import children, kill_all
from tests.servers import ListedDesign, Start, ask_over, read_all
from tests.waiting import wait_until


def test_replies_are_counted_by_dialect_and_status_and_errors_by_kind(start: Start) -> None:
    server = start("--work", "snapshot")
    for _ in range(10):
        server.ask(b"top 1\n" * 3)
        server.ask(b"GET /top HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2)
    server.ask(b"hello\n")
    server.ask(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
    server.ask(b"PUT /top HTTP/1.1\r\nHost: localhost\r\n\r\n")
    server.ask(b"t" * 500)
    for accept in (None, OPENMETRICS):
        found = samples(server, accept)
        counted = {key: count for key, count in found["regatta_requests_total"].items() if count}
        assert counted == {
            labels(dialect="line", status="200"): 30,
            labels(dialect="line", status="400"): 1,
            labels(dialect="line", status="414"): 1,
            labels(dialect="http", status="200"): 20 + (accept is not None),
            labels(dialect="http", status="404"): 1,
            labels(dialect="http", status="405"): 1,
        }
        assert found["regatta_connections_total"][labels()] == 25 + (accept is not None)
    summary = server.stop()
    assert summary["requests"] == 30 + 2 + 20 + 2 + 2
    errors = {kind: count for kind, count in summary["errors"].items() if count}
    assert errors == {"malformed": 2, "too_long": 1, "not_found": 1}


def test_open_connections_are_counted_while_they_are_open(
    start: Start, design: ListedDesign
) -> None:
    held = 0 if design.serves == "one" else 5
    server = start("--work", "snapshot", *design.workers(6))
    with server.connect_many(held) as asked:
        for connection in asked:
            ask_over(connection)
        # The connection that asks is open too.
        assert value(server, "regatta_connections_open") == held + 1
    wait_until(
        lambda: value(server, "regatta_connections_open") == 1,
        "closed connections are still counted",
    )


def test_a_client_is_counted_before_it_reaches_a_worker(start: Start, design: ListedDesign) -> None:
    """Even if the accepting thread is preempted right after it handed the client over. The client
    that asks is open; the one before it may still be."""
    preload = {"LD_PRELOAD": preloaded("slow_unlock")}
    server = start("--work", "snapshot", *design.workers(1), environment=preload)
    with server.connect() as before:
        ask_over(before)
        with server.connect() as asking:
            asking.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            before.close()
            reply = only_reply(read_all(asking))
    assert 1 <= samples_of(reply)["regatta_connections_open"][labels()] <= 2


def test_connections_of_a_killed_worker_no_longer_count_as_open(
    start: Start, design: ListedDesign
) -> None:
    server = start("--work", "snapshot", *design.workers(3))
    with server.connect() as connection:
        ask_over(connection)
        workers = children(server.process.pid) or pytest.skip("it has no worker processes")
        kill_all(workers)
        wait_until(
            lambda: value(server, "regatta_connections_open") == 1,
            "the connection of a dead worker is still counted",
        )
    if design.pool:
        wait_until(
            lambda: value(server, "regatta_workers_replaced_total") > 0, "no worker is replaced"
        )


def test_cpu_time_covers_all_workers_and_never_falls(start: Start, design: ListedDesign) -> None:
    server = start("--work", "spin=5ms", *design.workers(3))
    last = value(server, "process_cpu_seconds_total")
    first = last
    for _ in range(20):
        server.ask(b"top 1\n")
        now = value(server, "process_cpu_seconds_total")
        assert now >= last
        last = now
    # Half: the CPU may have been slower when the length of the spin was calibrated.
    assert last - first >= 20 * 0.005 / 2, "the CPU time of the workers is missing"
