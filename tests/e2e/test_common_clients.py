"""Our client, nc, curl and wrk against each design, with replies compared to ps; server options."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.answers import read_json, us
from tests.commands import assert_refused, run, run_well
from tests.servers import (
    ONE_SNAPSHOT,
    PATIENCE_S,
    designs,
    needs,
    program,
    rows_of,
    running,
)

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
CONNECTIONS = 100
WRK = ("iterative", "prefork-accept", "thread-per-client", "select", "epoll", "uring")
"""One of each way to wait for clients: a second of wrk fills both CPUs."""


def printed_by(*command: str, stdin: str = "") -> str:
    """Output of a command that must exit with status 0."""
    return run_well(*command, stdin=stdin, timeout=3 * PATIENCE_S)


def cpu_times() -> dict[int, float]:
    """User plus system seconds of every process according to ps."""
    listed = printed_by(needs("ps"), "-e", "-o", "pid=,cputimes=")
    return {
        int(pid): float(seconds) for pid, seconds in (line.split() for line in listed.splitlines())
    }


@pytest.mark.parametrize("design", designs())
def test_our_client_nc_curl_and_wrk_are_answered(design: str, tmp_path: Path) -> None:
    """From one snapshot, whose times ps brackets."""
    with running(tmp_path, "--design", design, *ONE_SNAPSHOT) as server:
        before = cpu_times()
        rows = rows_of(server.ask(b"top 5\n"))  # takes the snapshot
        after = cpu_times()
        for row in rows:
            # ps truncates to seconds: ours lies between its reading before and the second after.
            assert before.get(row.number, 0) - TICK_S <= row.us / 1e6
            if row.number in after:  # others may have ended
                assert row.us / 1e6 < after[row.number] + 1 + TICK_S
        figures = [(row.number, row.user_us, row.system_us) for row in rows]
        for dialect in ("line", "http"):
            asked = ("-c", str(CONNECTIONS), "--dialect", dialect, "--timeout", "60000")
            printed = printed_by(program("regatta-client"), *asked, server.address)
            answers = re.split(r"^connection \d+ of 100, .*$", printed, flags=re.MULTILINE)[1:]
            assert len(answers) == CONNECTIONS
            for shown in answers:
                fields = [line.split() for line in shown.strip().splitlines()[1:3]]
                found = [(int(row[1]), us(row[2]), us(row[3])) for row in fields]
                assert found == figures[:2]
            assert "all answered" in printed
        printed = printed_by(needs("nc"), "-N", server.host, str(server.port), stdin="top 5\n")
        assert rows_of(printed.encode()) == rows
        url = f"http://{server.address}/top?n=5"
        text = printed_by(needs("curl"), "-sS", "--fail", url)
        assert rows_of(text.encode() + b"\n") == rows
        form = printed_by(needs("curl"), "-sS", "-H", "Accept: application/json", url)
        assert read_json(form.encode()).rows == rows
        if design not in WRK:
            return
        printed = printed_by(needs("wrk"), "-t1", f"-c{CONNECTIONS}", "-d1s", url)
        assert "Socket errors" not in printed
        assert "Non-2xx" not in printed
        assert int(re.search(r"(\d+) requests in", printed)[1]) > 0
        errors = server.stop()["errors"]
        assert sum(errors.values()) - errors["disconnected"] == 0


def test_the_server_prints_what_it_served_when_it_ends(tmp_path: Path) -> None:
    """A refused request counts as well."""
    with running(tmp_path) as server:
        server.ask(b"hello\n")
        server.stop()
    last = server.stderr.splitlines()[-1]
    assert re.fullmatch(
        r"regatta-server: 1 request on 1 connection, 1 error, "
        r"[\d.]+ s of CPU in the [\d.]+ s since it was ready",
        last,
    ), last


def test_a_summary_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "summary.json"
    done = run(program("regatta-server"), "--listen", "127.0.0.1:0", "--summary", missing)
    assert_refused(done, status=1)
    assert "No such file" in done.stderr


def test_verbose_lines_are_printed_immediately(tmp_path: Path) -> None:
    with running(tmp_path, "--verbose") as server, server.connect() as connection:
        host, port = connection.getsockname()
        connection.sendall(b"top 7\n")
        for message in ("connected", "asks top 7", "answered 200"):
            line = server.process.stdout.readline().decode()
            assert line.split(maxsplit=3) == ["client", "1", f"{host}:{port}", f"{message}\n"]


def test_standard_descriptors_are_never_used_for_clients() -> None:
    """Started with stdin and stderr closed, and --ready-fd 1."""
    ready_read, ready_write = os.pipe()
    command = 'exec "$0" --verbose --listen 127.0.0.1:0 --ready-fd 1 <&- 2>&-'
    process = subprocess.Popen(["sh", "-c", command, program("regatta-server")], stdout=ready_write)
    os.close(ready_write)
    try:
        with os.fdopen(ready_read) as ready:
            word, address = ready.readline().split()
            assert word == "ready"
            host, _, port = address.partition(":")
            printed = printed_by(needs("nc"), "-N", host, port, stdin="top 2\n")
            assert rows_of(printed.encode())
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


def test_a_closed_output_pipe_does_not_end_the_server(tmp_path: Path) -> None:
    with running(tmp_path, "--verbose") as server:
        server.process.stdout.close()
        server.process.stdout = None
        for _ in range(3):
            assert rows_of(server.ask(b"top 2\n"))
