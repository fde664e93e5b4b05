"""With --verbose every design tells of each client, by its number, what it did; without, nothing.

A client's number and its lines must be the same whichever process or thread serves it."""

import re
import socket
from pathlib import Path

from tests.servers import ListedDesign, RunningServer, ask_over, running
from tests.sockets import reset
from tests.waiting import PATIENCE_S

LINE = re.compile(r"client (\d+) +(127\.0\.0\.1:\d+) +(.+)")
CLIENTS = 12


def printed_at_the_end(server: RunningServer) -> str:
    """All that it has printed, once it was stopped."""
    server.process.terminate()
    printed, _ = server.process.communicate(timeout=PATIENCE_S)
    server.is_over = True
    assert server.process.returncode == 0
    return printed.decode("ascii")


def told(printed: str) -> dict[int, tuple[set[str], list[str]]]:
    """By number, the addresses and what was said, in order."""
    found: dict[int, tuple[set[str], list[str]]] = {}
    for line in printed.splitlines():
        match = LINE.fullmatch(line)
        assert match, f"an unknown line: {line!r}"
        addresses, said = found.setdefault(int(match[1]), (set(), []))
        addresses.add(match[2])
        said.append(match[3])
    return found


def address_of(connection: socket.socket) -> str:
    host, port = connection.getsockname()
    return f"{host}:{port}"


def test_each_client_has_a_number_and_its_lines(tmp_path: Path, design: ListedDesign) -> None:
    addresses = []
    with running(tmp_path, "--verbose", "--design", design.name, *design.workers(3)) as server:
        for _ in range(CLIENTS):
            with server.connect() as connection:
                addresses.append(address_of(connection))
                ask_over(connection)
        found = told(printed_at_the_end(server))
    assert sorted(found) == list(range(1, CLIENTS + 1))
    said = ["connected", "asks top 2", "answered 200", "disconnected"]
    assert [lines for _, lines in found.values()] == [said] * CLIENTS
    by_number = [found[number][0] for number in sorted(found)]
    assert by_number == [{address} for address in addresses]


def test_what_a_client_sends_is_not_printed(tmp_path: Path, design: ListedDesign) -> None:
    """Whoever reads the log on a terminal would else be at its mercy."""
    with running(tmp_path, "--verbose", "--design", design.name, *design.workers(3)) as server:
        server.ask(b"top 2 \x1b]0;hello\x07\xff\nclient 9  127.0.0.1:1  connected\n")
        printed = printed_at_the_end(server)
    assert "hello" not in printed
    ((_, said),) = told(printed).values()
    assert said[:2] == ["connected", "asks what is no request"]
    assert said[2].startswith("answered 400: ")
    assert said[3:] == ["disconnected"]


def test_one_who_resets_the_connection_keeps_its_name(tmp_path: Path, design: ListedDesign) -> None:
    """The kernel no longer knows its address then."""
    with running(tmp_path, "--verbose", "--design", design.name, *design.workers(3)) as server:
        connection = server.connect()
        address = address_of(connection)
        ask_over(connection)
        reset(connection)
        server.ask(b"top 2\n")
        found = told(printed_at_the_end(server))
    assert found[1][0] == {address}
    assert found[1][1][-2:] == ["lost", "disconnected"]


def test_without_it_nothing_is_printed(tmp_path: Path, design: ListedDesign) -> None:
    with running(tmp_path, "--design", design.name, *design.workers(3)) as server:
        server.ask(b"top 2\n")
        assert printed_at_the_end(server) == ""
