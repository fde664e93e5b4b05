"""--verbose: every design logs what each client does, under a number that is unique across all its
processes and threads."""

import fcntl
import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

from tests.servers import PATIENCE_S, ListedDesign, RunningServer, ask_over, program, running
from tests.sockets import free_port, reset, wait_until_accepting

LINE = re.compile(r"client (\d+) +(127\.0\.0\.1:\d+) +(.+)")
CLIENTS = 12
EACH = ["connected", "asks top 2", "answered 200", "disconnected"]


def logged(server: RunningServer) -> dict[int, tuple[set[str], list[str]]]:
    """Stops the server. Returns addresses and messages by client number."""
    server.stop()
    found: dict[int, tuple[set[str], list[str]]] = {}
    for line in server.stdout.splitlines():
        match = LINE.fullmatch(line)
        assert match, f"an unknown line: {line!r}"
        addresses, messages = found.setdefault(int(match[1]), (set(), []))
        addresses.add(match[2])
        messages.append(match[3])
    return found


def address_of(connection: socket.socket) -> str:
    host, port = connection.getsockname()
    return f"{host}:{port}"


HOSTILE = b"top 2 \x1b]0;hello\x07\xff\nclient 9  127.0.0.1:1  connected\n"


def test_each_client_has_a_number_and_its_lines(tmp_path: Path, design: ListedDesign) -> None:
    """What a client sends is not printed: it could control the terminal of who reads the log. Of a
    client that resets, the kernel no longer knows the address."""
    addresses = []
    with running(tmp_path, "--verbose", "--design", design.name, *design.workers(3)) as server:
        for _ in range(CLIENTS):
            with server.connect() as connection:
                addresses.append(address_of(connection))
                ask_over(connection)
        server.ask(HOSTILE)
        connection = server.connect()
        lost = address_of(connection)
        ask_over(connection)
        reset(connection)
        server.ask(b"top 2\n")
        found = logged(server)
    assert "hello" not in server.stdout
    assert sorted(found) == list(range(1, CLIENTS + 4))
    by_number = [found[number] for number in sorted(found)]
    assert by_number[:CLIENTS] == [({address}, EACH) for address in addresses]
    invalid, (whose, reset_by), last = (by_number[CLIENTS][1], *by_number[CLIENTS + 1 :])
    assert invalid[:2] == ["connected", "sends an invalid request"]
    assert invalid[2].startswith("answered 400: ")
    assert invalid[3:] == ["disconnected"]
    assert (whose, reset_by[-2:]) == ({lost}, ["lost", "disconnected"])
    assert last[1] == EACH


LEFT_OUT = re.compile(r"\.\.\. and (\d+) more lines")


def test_a_log_that_nobody_reads_stops_neither_clients_nor_the_drain(
    tmp_path: Path, design: ListedDesign
) -> None:
    """What the pipe does not take is counted."""
    with running(tmp_path, "--verbose", "--design", design.name, *design.workers(3)) as server:
        pipe = server.process.stdout
        room = fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
        for _ in range(5 * CLIENTS):
            server.ask(b"top 2\n")
        read = os.read(pipe.fileno(), room).decode()
        for _ in range(5 * CLIENTS):
            server.ask(b"top 2\n")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE_S) == 0
        server.stop()
    lines = (read + server.stdout).splitlines()
    left_out = sum(int(match[1]) for match in map(LEFT_OUT.fullmatch, lines) if match)
    assert all(LINE.fullmatch(line) or LEFT_OUT.fullmatch(line) for line in lines)
    assert left_out > 0
    assert len(lines) - 1 + left_out <= 10 * CLIENTS * len(EACH)


def test_a_pipe_of_both_outputs_that_nobody_reads_stops_no_exit(tmp_path: Path) -> None:
    summary = tmp_path / "summary.json"
    port = free_port()
    where = ("--listen", f"127.0.0.1:{port}", "--summary", summary)
    command = (program("regatta-server"), "--verbose", "--no-recorder", "--source", "procfs")
    ends = os.pipe()
    fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 4096)
    server = subprocess.Popen([*command, *where], stdout=ends[1], stderr=ends[1])
    wait_until_accepting(server, port)
    for _ in range(100):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"top 2\n")
            client.recv(1)
    server.terminate()
    assert server.wait(PATIENCE_S) == 0
    for end in ends:
        os.close(end)
    assert json.loads(summary.read_text())["requests"] >= 100
