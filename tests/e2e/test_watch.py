"""regatta-client --watch: several hosts on one screen, and keys."""

import contextlib
import re
import socket
import time
from pathlib import Path

from tests.commands import run
from tests.e2e.hosts_file import with_hosts
from tests.e2e.scripted_servers import serving, silent
from tests.e2e.terminal import Terminal
from tests.e2e.watched_hosts import (
    Pair,
    answer,
    answering,
    both_ok,
    heads,
    on_screen,
    two_servers,
    watch,
)
from tests.servers import program, running
from tests.sockets import OWN_HOST, free_port


def test_two_hosts_are_shown_side_by_side(pair: Pair) -> None:
    with on_screen(pair[0].address, pair[1].address) as terminal:
        terminal.until(both_ok(terminal))
        (y_one, x_one), (y_two, x_two) = heads(terminal, pair)
        assert y_one == y_two
        assert x_one < x_two
        # Both show this machine, each once it has answered twice.
        terminal.until(lambda: first_row(terminal).count("1") >= 2)
        assert first_row(terminal)[0] == "1"
        assert socket.gethostname()[:8] in terminal.text


def first_row(terminal: Terminal) -> list[str]:
    """Below the headings of both hosts; empty if one has none yet."""
    titles = [at for at, line in enumerate(terminal.lines) if line.count("NAME") == 2]
    return terminal.lines[titles[0] + 1].split() if titles else []


def test_hosts_are_stacked_in_a_narrow_window_and_follow_its_size(pair: Pair) -> None:
    with on_screen(pair[0].address, pair[1].address, columns=60) as terminal:
        terminal.until(both_ok(terminal))
        (y_one, _), (y_two, _) = heads(terminal, pair)
        assert y_one < y_two
        terminal.resize(120, 30)
        terminal.until(lambda: len({y for y, _ in heads(terminal, pair)}) == 1)
        terminal.until(both_ok(terminal))
        for columns, lines in ((10, 3), (1, 1), (300, 90)):
            terminal.resize(columns, lines)
            terminal.pump(0.3)
        terminal.until(both_ok(terminal))
        terminal.press("q")
        assert terminal.end() == 0


def test_a_dead_host_is_shown_and_retried_while_the_other_continues(tmp_path: Path) -> None:
    with (
        two_servers(tmp_path) as (first, second),
        on_screen(first.address, second.address, columns=120) as terminal,
    ):
        terminal.until(both_ok(terminal))
        first.stop()
        # If the other host had waited, its figures would be old by now.
        shown = terminal.until(lambda: "UNREACHABLE for 2." in terminal.text)
        assert "Connection refused" in shown
        age = re.search(r"ok, (\d+\.\d) s old", shown)
        assert float(age[1]) < 1.5
        again = tmp_path / "again"
        again.mkdir()
        with running(again, listen=first.address):
            terminal.until(both_ok(terminal))
            assert "UNREACHABLE" not in terminal.text
        terminal.press("q")
        assert terminal.end() == 0


def test_a_silent_host_does_not_delay_others(pair: Pair) -> None:
    with serving(silent) as mute:
        before = time.monotonic()
        result = watch(
            *("--count", "3", "--interval", "0.2", "--timeout", "60000"),
            *(mute.address, pair[0].address),
        )
        assert time.monotonic() - before < 5
    assert result.returncode == 0
    assert result.stdout.count("waiting for the first answer") == 3
    assert result.stdout.count("ok, ") == 3


def test_the_host_header_is_the_address(tmp_path: Path) -> None:
    """Without a token a server refuses host names that it does not know."""
    asked: list[bytes] = []
    with serving(answering(answer("x"), asked)) as server:
        port = server.address.rpartition(":")[2]
        assert watch("--count", "1", f"localhost:{port}").returncode == 0
    assert f"\r\nHost: 127.0.0.1:{port}\r\n".encode() in asked[0]
    with running(tmp_path) as ours:
        result = watch("--count", "1", "--by", "total", f"127.1:{ours.port}")
    assert result.returncode == 0, result.stdout


def target(asked: list[bytes]) -> str:
    """Of the last request."""
    return asked[-1].split()[1].decode()


def test_keys_change_the_query() -> None:
    asked: list[bytes] = []
    with (
        serving(answering(answer("x"), asked)) as server,
        on_screen("-n", "7", server.address) as terminal,
    ):
        terminal.until("everything else")
        assert target(asked) == "/top?n=7&format=json&by=recent&window=10s"
        for key, wanted in (
            ("9", "/top?n=7&format=json&by=recent&window=60s"),
            ("+", "/top?n=8&format=json&by=recent&window=60s"),
            ("--", "/top?n=6&format=json&by=recent&window=60s"),
            ("g", "/top?n=6&format=json&by=recent&window=60s&group=name"),
            ("t", "/top?n=6&format=json&group=name"),
            ("gg", "/top?n=6&format=json&group=cgroup"),
            ("g", "/top?n=6&format=json"),
            ("1", "/top?n=6&format=json&by=recent&window=1s"),
        ):
            terminal.press(key)
            terminal.until(lambda wanted=wanted: target(asked) == wanted)
        terminal.until("recent 1 s")
        assert "+ - more or fewer rows" not in terminal.text
        terminal.press("h")
        terminal.until("+ - more or fewer rows")
        terminal.press(" ")
        terminal.until("PAUSED")
        paused_at = len(asked)
        terminal.pump(0.5)
        terminal.pump(0.5)
        assert len(asked) <= paused_at + 1  # one may have been in flight
        terminal.press(" ")
        terminal.until(lambda: len(asked) > paused_at + 2)
        assert "PAUSED" not in terminal.text


def test_the_number_of_rows_follows_the_window_size() -> None:
    asked: list[bytes] = []
    with (
        serving(answering(answer("x"), asked)) as server,
        on_screen(server.address, lines=24) as terminal,
    ):
        terminal.until("everything else")
        assert "n=17&" in target(asked)
        terminal.resize(100, 60)
        terminal.until(lambda: "n=53&" in target(asked))
        terminal.resize(100, 200)
        terminal.until(lambda: "n=64&" in target(asked))


def test_r_retries_a_failed_host_at_once(tmp_path: Path) -> None:
    address = f"{OWN_HOST}:{free_port()}"
    with on_screen("--by", "total", "--interval", "3600", address) as terminal:
        terminal.until("UNREACHABLE")
        with running(tmp_path, listen=address):
            terminal.press("r")
            terminal.until("ok, ")


def test_it_fails_if_no_host_ever_answered() -> None:
    """Although the time of the silent one is not over."""
    with serving(silent) as mute:
        for hosts, reason in (
            ([mute.address], f"{mute.address}: no answer yet"),
            (["127.0.0.1:1", "[::1]:1"], "127.0.0.1:1: Connection refused"),
        ):
            result = watch("--count", "1", "--interval", "0.2", *hosts)
            assert f"no host answered; {reason}" in result.stderr
            assert (result.returncode, result.stderr.count("\n")) == (1, 1)


def test_a_silent_address_of_a_name_does_not_hide_another(tmp_path: Path) -> None:
    """Its queue is full, so that it drops who connects."""
    hosts = with_hosts(tmp_path, "127.0.0.1 two-of-them\n127.0.0.9 two-of-them\n")
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as full,
        running(tmp_path, listen=f"127.0.0.9:{full.getsockname()[1]}") as server,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(2):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        options = ("--watch", "--count", "1", "--by", "total", f"two-of-them:{server.port}")
        result = run(*hosts, program("regatta-client"), *options)
    assert f"(127.0.0.9:{server.port}): ok" in result.stdout
    assert result.returncode == 0
