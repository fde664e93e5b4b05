"""Output of load generators and tables of servers under load: read, and held against arithmetic."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.teach.review import review
from tests.lab.teach.found import FIXTURES, checks, findings, named, reading, values

LOAD = FIXTURES / "load"
GOOD = ("wrk", "wrk2", "oha", "hey", "h2load", "ab", "k6")
BAD = ("wrk-errors", "hey-errors", "ab-errors")


def text(name: str) -> str:
    return (LOAD / f"{name}.txt").read_text()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wrk", {"rate": 3937.9, "mean": 5.13e-3, "p99": 13.26e-3, "max": 27.09e-3, "clients": 20}),
        ("wrk2", {"rate": 10001.02, "mean": 52.4e-3, "p99.9": 166.2e-3, "requests": 200_020}),
        ("oha", {"rate": 421.4724, "mean": 0.0475, "min": 0.0044, "answers": 4198}),
        (
            "hey",
            {"rate": 2711.3097, "mean": 3.7e-3, "p50": 3.5e-3, "bytes": 1_258_026, "size": 231},
        ),
        ("h2load", {"rate": 3347.58, "mean": 2.87e-3, "clients": 10, "bytes": 1_396_000}),
        ("ab", {"rate": 2922.78, "mean": 3e-3, "p99": 12e-3, "clients": 10, "elapsed": 1.026}),
        ("k6", {"rate": 24354.579205, "mean": 4.05e-3, "p95": 8.88e-3, "bytes": 1e9}),
        ("wrk-errors", {"errors": 27_000, "requests": 27_000, "mean": 735.07e-6}),
        ("hey-errors", {"errors": 200, "requests": 200}),
        ("ab-errors", {"errors": 500, "requests": 500}),
    ],
)
def test_each_tools_output_is_read(name: str, expected: dict[str, float]) -> None:
    (record,) = reading(text(name)).records
    found = values(record)
    assert {key: found[key] for key in expected} == pytest.approx(expected)


@pytest.mark.parametrize("name", GOOD)
def test_a_good_run_is_accused_of_nothing_but_that_it_is_one(name: str) -> None:
    assert checks(text(name)) == {"one-run"}
    assert reading(text(name)).left == ((1,) if name == "oha" else ()), "its command line"


@pytest.mark.parametrize("name", BAD)
def test_errors_are_no_answers(name: str) -> None:
    (found,) = named("errors", text(name))
    assert found.says.endswith(" a second 0 were good answers.")


def test_a_socket_error_is_an_error_and_a_request_cut_off_at_the_end_is_none() -> None:
    broken = text("wrk").replace(
        "Requests", "  Socket errors: connect 0, read 90, write 0, timeout 9\nRequests"
    )
    assert named("errors", broken)[0].says == "99 of 7,899 requests failed."
    assert named("errors", text("oha")) == []
    assert named("errors", text("oha").replace("aborted due to deadline", "connection reset")) != []
    few = text("wrk").replace("Requests", "  Non-2xx or 3xx responses: 3\nRequests")
    assert named("errors", few) == [], "three of 7,899 change no rate"


def test_more_requests_are_in_flight_than_there_are_connections() -> None:
    """By Little's law; but wrk adds the latencies of requests that it held back, those of wrk2
    count from when a request was due, and HTTP/2 has any number of streams."""
    few = text("ab").replace("Concurrency Level:      10", "Concurrency Level:      2")
    assert "requests under way, over 2 connections" in named("in-flight", few)[0].says
    assert named("in-flight", text("wrk").replace("20 connections", "2 connections")) == []
    assert named("in-flight", text("wrk2").replace("64 connections", "2 connections")) == []
    streams = text("h2load").replace("5 total client", "1 total client")
    assert named("in-flight", streams) != []
    assert named("in-flight", streams.replace("http/1.1", "h2")) == []


def test_connections_that_did_not_wait_for_the_server() -> None:
    (found,) = named("client-bound", text("wrk").replace("20 connections", "64 connections"))
    assert found.says.startswith("3937.90 a second x 5.13 ms = 20.2 requests under way, over 64 ")
    unconnected = "  Socket errors: connect 44, read 0, write 0, timeout 0\nRequests/sec"
    some = text("wrk").replace("20 connections", "64 connections")
    assert named("client-bound", some.replace("Requests/sec", unconnected)) == []


@pytest.mark.parametrize(
    ("before", "after", "check"),
    [
        ("50%    4.49ms", "50%    8.49ms", "order"),
        ("99%   13.26ms", "99%   33.26ms", "order"),
        ("Latency     5.13ms", "Latency    30.13ms", "order"),
        ("Requests/sec:   3937.90", "Requests/sec:   4937.90", "ratio"),
        ("Transfer/sec:      1.31MB", "Transfer/sec:     13.10MB", "ratio"),
    ],
)
def test_a_figure_of_another_run_is_found(before: str, after: str, check: str) -> None:
    assert check not in checks(text("wrk"))
    assert check in checks(text("wrk").replace(before, after))


def test_a_mean_below_the_minimum_and_a_p99_below_the_mean() -> None:
    assert "order" in checks(text("hey").replace("Average:\t0.0037", "Average:\t0.0001"))
    table = "server,rps,mean_ms,p99_ms\na,1000,5.0,{}\nb,1000,5.0,9.0\n"
    assert [finding.line for finding in named("tail", table.format("5.0"))] == [2]
    assert named("tail", table.format("9.0")) == []


def test_a_percentile_of_too_few_requests() -> None:
    (found,) = named("few-requests", text("hey-errors"))
    assert found.says == "Of 200 requests 2 took longer than p99 0.0018 secs."


def test_several_outputs_of_one_file_are_runs_and_of_several_files_servers() -> None:
    assert len(reading(text("wrk") * 2).records) == 2
    assert len(reading(text("k6") * 3).records) == 3
    assert "one-run" not in checks(text("wrk") * 2)
    assert "one-run" in checks(text("wrk"), text("wrk"))


def test_outputs_without_their_first_lines_are_read_too() -> None:
    ab = text("ab")
    pasted = ab[ab.index("Server Software") :]
    assert len(reading(pasted * 2).records) == 2
    h2load = text("h2load")
    assert len(reading(h2load[h2load.index("finished in") :] * 2).records) == 2


def test_servers_that_answer_all_the_same(tmp_path: Path) -> None:
    paths = []
    for name in "abc":
        paths.append(tmp_path / f"{name}.txt")
        paths[-1].write_text(text("wrk"))
    found = {finding.check.name for finding in review([str(path) for path in paths]).findings}
    assert found == {"one-run", "ceiling"}


TABLE = """framework,requests_per_s,avg_ms,p99_ms,connections,errors
a,100000,10.00,10.00,100,0
b,90000,1.10,9.00,100,0
c,120000,0.83,4.00,100,5000
"""


def test_a_table_of_servers_is_held_against_arithmetic() -> None:
    assert {(finding.check.name, finding.line) for finding in findings(TABLE)} == {
        ("in-flight", 2),
        ("tail", 2),
        ("one-run", 2),
        ("errors", 4),
    }
    cells = [line.split(",") for line in TABLE.splitlines()]
    rows = [f"| {' | '.join(row)} |" for row in (cells[0], ["---"] * 6, *cells[1:])]
    assert checks("\n".join(rows)) == checks(TABLE)


@given(st.lists(st.floats(0.001, 10), min_size=100, max_size=300), st.integers(1, 50))
def test_what_a_closed_loop_would_print_contradicts_nothing(
    latencies: list[float], clients: int
) -> None:
    """Clients that ask one after another: the rate follows from the mean."""
    ranked = sorted(latencies)
    mean = sum(ranked) / len(ranked)
    share = {f"p{part}": ranked[int(part / 100 * len(ranked))] for part in (50, 75, 90, 99)}
    share |= {"mean": mean, "min": ranked[0], "max": ranked[-1]}
    header = ",".join(f"{name}_s" for name in share)
    row = ",".join(f"{value:.4f}" for value in share.values())
    found = findings(f"clients,rps,{header}\n{clients},{clients / mean:.4f},{row}\n")
    assert {finding.check.name for finding in found} <= {"one-run", "tail"}
