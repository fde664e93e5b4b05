"""The open load: requests start when they are due, and latency counts from then."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.scripted_servers import (
    LINE_REPLY,
    NO_FIGURES,
    Gated,
    always,
    errors,
    once,
    open_load,
    read_samples,
    result_of,
    serving,
    shown_by,
)
from tests.processes import stopped
from tests.servers import SANITIZER, needs, running
from tests.waiting import PATIENCE_S, wait_until

SERVER = ["--design", "select", "--work", "snapshot"]
LOWEST_PRIORITY = 19
"""nice(1)"""


# The schedule


def test_an_even_rate_is_met_without_drift(tmp_path: Path, dialect: str) -> None:
    path = tmp_path / "samples"
    with running(tmp_path, *SERVER) as server:
        result, status = result_of(
            server, f"{open_load(2000, 1)} -c 20 --samples {path}", dialect=dialect
        )
    assert status == 0
    assert (result["load"], result["rate_per_s"], result["arrivals"]) == ("open", 2000, "even")
    assert result["requests"] + result["unstarted"] == 2000
    assert result["answered"] == result["requests"] > 0
    # If a busy machine delays the end, the longer duration counts.
    assert 0 < result["achieved_per_s"] <= 1.01 * result["requests"]
    starts = sorted(sample[0] for sample in read_samples(path)[0])
    assert [start - starts[0] for start in starts] == [i * 500_000 for i in range(len(starts))]


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("arrivals", ["even", "poisson"])
def test_threads_share_the_schedule_of_one(tmp_path: Path, arrivals: str, cpus: int) -> None:
    """Each due request is in the samples of one of them, and of one only."""
    allowed = sorted(os.sched_getaffinity(0))
    here = ",".join(map(str, allowed[-cpus:]))
    due = {}
    with running(tmp_path, *SERVER) as server:
        for threads in (1, 3):
            path = tmp_path / f"{threads}"
            how = f"{open_load(3000, 0.5)} --arrivals {arrivals} -c 10 --cpus {here}"
            result, status = result_of(server, f"{how} --threads {threads} --samples {path}")
            samples = sorted(read_samples(path)[0])
            assert (status, result["threads"], result["errors"]) == (0, threads, errors())
            assert result["requests"] + result["unstarted"] == len(samples)
            took = sorted(end - start for start, _, end, _, error in samples if error == ANSWERED)
            if not result["unstarted"]:
                assert {sample[3] for sample in samples} == set(range(10))
                assert result["late_ns"]["max"] <= result["latency_ns"]["max"]
                assert result["latency_ns"]["p99"] == took[-(-99 * len(took) // 100) - 1]
            due[threads] = [start - samples[0][0] for start, *_ in samples]
    assert due[1] == due[3]


def test_threads_see_the_latency_that_there_is() -> None:
    """A server that answers after 10 ms, to 4 connections at a time."""
    with serving(always(LINE_REPLY, pause_s=0.01)) as server:
        result, status = result_of(server, f"{open_load(200, 1)} -c 4 --threads 2")
    assert (status, result["errors"]) == (0, errors())
    assert result["answered"] + result["unstarted"] == 200
    assert 10e6 <= result["latency_ns"]["min"] <= result["latency_ns"]["p50"]
    assert result["first_byte_ns"]["min"] >= 10e6


@pytest.mark.long
def test_threads_begin_together(tmp_path: Path) -> None:
    """In a quarter of 20, as a host may take a CPU for longer."""
    with running(tmp_path, *SERVER) as server:
        load = f"{open_load(100, 0.1)} -c 2 --threads 2"
        skews = [result_of(server, load)[0]["start_skew_ns"] for _ in range(20)]
    assert sorted(skews)[5] < 50_000


def test_a_rate_that_is_not_achieved_is_reported_and_is_no_failure() -> None:
    with serving(always(LINE_REPLY, pause_s=0.02)) as server:
        result, status = result_of(server, f"{open_load(400, 0.5)} -c 2")
    assert (status, result["errors"]) == (0, errors())
    assert result["answered"] == result["requests"] <= 52
    assert result["requests"] + result["unstarted"] == 200
    assert 0 < result["achieved_per_s"] <= 1.01 * 2 * result["requests"]
    # They waited for the server, which counts as latency; the client was not late.
    assert result["latency_ns"]["over"]["max"] > 0.3e9
    assert result["late_ns"]["p50"] < 100e6
    if result["late_ns"]["max"] < 10e6:  # otherwise it may have been late as well
        assert result["client_bound"] is None


# Overload: requests that were due but not started count in the percentiles

ANSWERED, UNSTARTED = 0, 6


# A request is sent when all earlier ones are answered, except those on other connections, and the
# server works on them one after another. So these bounds hold however busy the machine is.
@pytest.mark.parametrize(("design", "connections"), [("iterative", 1), ("select", 8)])
def test_at_three_times_the_capacity_no_percentile_is_below_the_truth(
    design: str, connections: int, tmp_path: Path
) -> None:
    work_s, rate, duration_s = 0.01, 300, 1.0
    path = tmp_path / "samples"
    with running(tmp_path, "--design", design, "--work", "wait=10ms") as server:
        result, status = result_of(
            server, f"{open_load(rate, duration_s)} -c {connections} --samples {path}"
        )
    due = round(rate * duration_s)
    at_least = [1e9 * (max(1, k + 2 - connections) * work_s - k / rate) for k in range(due)]
    assert (status, result["errors"]) == (0, errors())
    assert result["requests"] + result["unstarted"] == due
    assert result["requests"] <= duration_s / work_s + connections
    # Two thirds did not start, and the median is among them.
    for figures in (result["latency_ns"], result["first_byte_ns"]):
        known = {name for name, value in figures.items() if value is not None}
        assert known == {"min", "over"}
        assert figures["over"]["p50"] > 0.2e9
    # The samples show the same for each request.
    samples = sorted(read_samples(path)[0])
    assert len(samples) == due
    for k, (start_ns, first_ns, end_ns, _, outcome) in enumerate(samples):
        assert start_ns - samples[0][0] == pytest.approx(k * 1e9 / rate, abs=2)
        if outcome == UNSTARTED:
            assert first_ns == 0
            assert end_ns - samples[0][0] == pytest.approx(duration_s * 1e9, abs=2)
        else:
            assert outcome == ANSWERED
            assert end_ns - start_ns >= at_least[k] - 2


# Coordinated omission


def test_a_stall_of_the_server_is_completely_in_the_samples(tmp_path: Path) -> None:
    path = tmp_path / "samples"
    rate = 500
    with running(tmp_path, *SERVER) as server:
        gated = Gated(server, f"{open_load(rate, 2)} -c 4 --samples {path}")
        gated.go()
        time.sleep(0.4)
        with stopped(server.process.pid):
            stopped_ns = time.monotonic_ns()
            time.sleep(0.3)
            continued_ns = time.monotonic_ns()
        result = gated.result()
    samples, _ = read_samples(path)
    assert result["errors"] == errors()
    # Four connections could send only four requests, but all that were due are recorded.
    stalled = [sample for sample in samples if stopped_ns <= sample[0] < continued_ns]
    assert len(stalled) == pytest.approx(rate * (continued_ns - stopped_ns) / 1e9, abs=2)
    for start_ns, _, end_ns, _, error in stalled:
        assert error == 0
        assert end_ns >= continued_ns
        assert end_ns - start_ns >= continued_ns - start_ns
    latency = result["latency_ns"]
    assert (latency["max"] or latency["over"]["max"]) > 0.28e9


# Connections


def test_keep_alive_connections_are_opened_before_the_window() -> None:
    counts: dict[int, int] = {}
    with serving(always(LINE_REPLY, counts)) as server:
        gated = Gated(server, f"{open_load(200, 0.3)} -c 12")
        server.wait_for(12)
        assert counts == {}
        gated.go()
        result = gated.result()
        assert server.accepted == 12
    assert result["connections_opened"] == 12
    assert result["answered"] == 60 - result["unstarted"]
    # Requests are spread over the connections.
    assert min(counts.values()) >= result["answered"] // 20


def test_an_idle_connection_closed_by_the_server_is_reopened() -> None:
    with serving(once(LINE_REPLY)) as server:
        result, status = result_of(server, f"{open_load(50, 0.4)} -c 10")
    assert (status, result["errors"]) == (0, errors())
    assert result["answered"] == result["connections_opened"] == 20 - result["unstarted"]


def test_an_open_load_on_a_server_that_never_answers_ends_in_time() -> None:
    with serving(lambda *_: server.hold()) as server:
        result, status = result_of(server, f"{open_load(100, 0.2)} --timeout 150 -c 3")
    assert status == 1
    assert result["errors"] == errors(timeout=result["requests"])
    assert result["requests"] >= 3


# The client's own limits


@pytest.fixture
def busy_cpu() -> Iterator[int]:
    """A CPU that another process keeps busy."""
    cpu = min(os.sched_getaffinity(0))
    burner = subprocess.Popen([needs("taskset"), "-c", str(cpu), "sh", "-c", "while :; do :; done"])
    yield cpu
    burner.kill()
    burner.wait()


def test_a_client_on_a_busy_cpu_reports_that_it_was_the_bottleneck(
    busy_cpu: int, tmp_path: Path
) -> None:
    if os.nice(0) == LOWEST_PRIORITY:
        pytest.skip("the tests run at the lowest priority themselves")

    def lower_priority() -> None:
        os.nice(LOWEST_PRIORITY)

    with running(tmp_path, *SERVER) as server:
        load = f"{open_load(50_000, 0.5)} --cpus {busy_cpu} -c 50".split()
        printed, shown = (
            shown_by(*load, *form, server.address, preexec_fn=lower_priority)
            for form in (["--json"], [])
        )
    result = json.loads(printed)
    assert result["achieved_per_s"] < 0.99 * 50_000
    assert result["client_bound"].startswith("started only ")
    assert "client-bound: the client " in shown


def test_a_stopped_client_reports_that_it_was_late(tmp_path: Path) -> None:
    """With so many connections that one is always free, even if the server is slow."""
    with running(tmp_path, *SERVER) as server:
        gated = Gated(server, f"{open_load(200, 1)} -c 100")
        gated.go()
        time.sleep(0.1)
        gated.process.send_signal(signal.SIGSTOP)
        time.sleep(1.1)
        gated.process.send_signal(signal.SIGCONT)
        result = gated.result()
    assert result["unstarted"] > 50
    assert result["client_bound"].endswith("% of the offered rate because it was late itself")


def test_a_closed_load_is_client_bound_only_by_its_cpu(engine: str, tmp_path: Path) -> None:
    cpu = str(max(os.sched_getaffinity(0)))
    with running(tmp_path, *SERVER) as server:
        result, status = result_of(
            server, f"--load closed --duration 0.3 --cpus {cpu} -c 50", engine
        )
    assert status == 0
    if result["cpu_share"] > 0.8:
        assert result["client_bound"] == f"used {100 * result['cpu_share']:.0f} % of its CPU"
    else:
        assert result["client_bound"] is None
    assert result["late_ns"] == NO_FIGURES
    if SANITIZER == "thread" and engine == "thread":
        pytest.skip("starting 50 threads takes too much CPU time with this sanitizer")
    usage = result["usage"]["children" if engine == "fork" else "self"]
    cpu_ns = usage["user_ns"] + usage["system_ns"]
    assert result["cpu_share"] == pytest.approx(cpu_ns / result["elapsed_ns"], rel=0.2, abs=0.02)


def test_ctrl_c_stops_an_open_load_and_sums_up() -> None:
    counts: dict[int, int] = {}
    with serving(always(LINE_REPLY, counts)) as server:
        gated = Gated(server, open_load(100, 60))
        gated.go()
        wait_until(lambda: counts, "it sends no request")
        time.sleep(0.2)
        gated.process.send_signal(signal.SIGINT)
        result = gated.result()
    assert gated.process.returncode == 1
    assert result["requests"] >= 1
    # Requests not due yet do not count: a minute would have been 6,000.
    assert result["requests"] + result["unstarted"] < 100 * PATIENCE_S
    assert result["achieved_per_s"] <= 100 * 1.3
