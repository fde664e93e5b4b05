"""regatta-client --watch: several hosts on one screen, and a terminal left as it was found."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.scripted import http, serving
from tests.e2e.terminal import Terminal, in_terminal
from tests.servers import PATIENCE_S, Server, program, running

CLIENT = program("regatta-client")


def row(rank: int, name: str, **changes: Any) -> dict[str, Any]:
    return {
        "rank": rank,
        "pid": 4000 + rank,
        "name": name,
        "user_seconds": 9.98,
        "system_seconds": 0.02,
        **changes,
    }


def answer(*names: str, **changes: Any) -> dict[str, Any]:
    """What a regatta-server says about recent use."""
    return {
        "host": "alpha",
        "taken_at": 1795269292.048987,
        "age_ms": 40,
        "source": "procfs",
        "source_reason": "not permitted to use BPF",
        "tasks_seen": 75,
        "tasks_lost": 1,
        "by": "recent",
        "group": None,
        "elapsed_seconds": 10.0,
        "processes": [row(rank, name) for rank, name in enumerate(names, start=1)],
        "rest": {"user_seconds": 1.25, "system_seconds": 0.5, "processes": 73},
        **changes,
    }


def body(content: dict[str, Any]) -> bytes:
    return http(json.dumps(content).encode(), headers=b"Connection: close\r\n")


class Asked:
    """A scripted server: answers as `reply` is at the moment, and keeps what it was asked."""

    def __init__(self, reply: bytes) -> None:
        self.reply = reply
        self.targets: list[str] = []

    def __call__(self, connection: socket.socket, _number: int) -> None:
        request = b""
        while not request.endswith(b"\r\n\r\n"):
            piece = connection.recv(4096)
            if not piece:
                return
            request += piece
        self.targets.append(request.split()[1].decode())
        connection.sendall(self.reply)


def watch(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Without a terminal."""
    return subprocess.run(
        [CLIENT, "--watch", *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8", **environment},
    )


def on_screen(*options: str, **settings: Any) -> Any:
    return in_terminal(CLIENT, "--watch", "--interval", "0.2", *options, **settings)


def wait_for_readings(server: Server) -> None:
    """What is recent needs two readings, a second apart."""
    deadline = time.monotonic() + PATIENCE_S
    while b" 200 " not in server.ask(b"GET /top?by=recent HTTP/1.0\r\n\r\n").split(b"\r\n")[0]:
        assert time.monotonic() < deadline, "the server takes no readings"
        time.sleep(0.05)


@contextlib.contextmanager
def two_servers(folder: Path) -> Iterator[tuple[Server, Server]]:
    """As if on two hosts."""
    folders = [folder / "one", folder / "two"]
    for each in folders:
        each.mkdir()
    with (
        running(folders[0], listen="127.0.0.2:0") as one,
        running(folders[1], listen="127.0.0.3:0") as two,
    ):
        wait_for_readings(one)
        wait_for_readings(two)
        yield one, two


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    """Two servers that no test stops."""
    with two_servers(tmp_path_factory.mktemp("pair")) as servers:
        yield servers


# Hosts on the screen


def heads(terminal: Terminal, servers: tuple[Server, Server]) -> list[tuple[int, int]]:
    """Line and column of each server's address; () while one is missing."""
    found = []
    for server in servers:
        for y, line in enumerate(terminal.lines):
            if server.address in line:
                found.append((y, line.index(server.address)))
    return found


def both_ok(terminal: Terminal) -> Callable[[], bool]:
    return lambda: terminal.text.count("ok, ") == 2 and terminal.text.count("NAME") == 2


def test_two_hosts_stand_side_by_side(pair: tuple[Server, Server]) -> None:
    with on_screen(pair[0].address, pair[1].address) as terminal:
        terminal.until(both_ok(terminal))
        (y_one, x_one), (y_two, x_two) = heads(terminal, pair)
        assert y_one == y_two
        assert x_one < x_two
        title = next(line for line in terminal.lines if "NAME" in line)
        assert title.count("NAME") == 2
        # Both show this machine; the busiest process is the same on both.
        first = terminal.lines[terminal.lines.index(title) + 1].split()
        assert first[0] == "1"
        assert first.count("1") >= 2
        assert socket.gethostname()[:8] in terminal.text


def test_hosts_are_stacked_where_the_window_is_narrow_and_follow_its_size(
    pair: tuple[Server, Server],
) -> None:
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


def test_more_hosts_than_room_can_be_scrolled_to(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        closed = [f"127.0.0.{number}:1" for number in range(10, 19)]
        with on_screen(server.address, *closed, columns=80, lines=16) as terminal:
            terminal.until("up/down: more hosts")
            assert "127.0.0.18:1" not in terminal.text
            terminal.press("\x1bOB" * 9)
            terminal.until("127.0.0.18:1")
            assert server.address not in terminal.text
            terminal.press("k" * 9)
            terminal.until(server.address)


def test_a_host_that_dies_is_shown_and_retried_while_the_other_goes_on(tmp_path: Path) -> None:
    with (
        two_servers(tmp_path) as (one, two),
        on_screen(one.address, two.address, columns=120) as terminal,
    ):
        terminal.until(both_ok(terminal))
        one.stop()
        # So long after, the other's figures would be old had it waited.
        shown = terminal.until(lambda: "UNREACHABLE for 2." in terminal.text)
        assert "Connection refused" in shown
        age = re.search(r"ok, (\d+\.\d) s old", shown)
        assert age is not None
        assert float(age[1]) < 1.5
        again = tmp_path / "again"
        again.mkdir()
        with running(again, listen=one.address):
            terminal.until(both_ok(terminal))
            assert "UNREACHABLE" not in terminal.text
        terminal.press("q")
        assert terminal.end() == 0


def test_a_silent_host_delays_no_other(pair: tuple[Server, Server]) -> None:
    def silent(connection: socket.socket, _number: int) -> None:
        while connection.recv(4096):
            pass

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


def test_a_host_that_does_not_answer_fails_at_the_timeout() -> None:
    def silent(connection: socket.socket, _number: int) -> None:
        while connection.recv(4096):
            pass

    with serving(silent) as mute:
        result = watch("--count", "1", "--timeout", "300", mute.address)
    assert "FAILING for 0.0 s: no answer within 0.3 s; again in" in result.stdout
    assert result.returncode == 1


def test_every_address_of_a_name_is_tried(tmp_path: Path) -> None:
    with running(tmp_path, listen="127.0.0.1:0") as server:
        result = watch("--count", "1", "--by", "total", f"localhost:{server.port}")
    assert result.returncode == 0, result.stdout
    assert f"(127.0.0.1:{server.port}): ok" in result.stdout


# What a server may say


def test_figures_are_shares_of_the_time_that_really_passed() -> None:
    with serving(Asked(body(answer("burner", elapsed_seconds=8.0)))) as server:
        plain = watch("--count", "1", server.address).stdout
        assert re.search(r"^ +1 +4001 +124\.8 +0\.3 burner$", plain, re.MULTILINE)
        assert re.search(r"- +15\.6 +6\.3 \(everything else: 73\)$", plain, re.MULTILINE)
        assert "ok, 0.0 s old, over 8.0 s" in plain
        assert "source procfs, 75 tasks, 1 lost (not permitted to use BPF)" in plain
        with on_screen(server.address) as terminal:
            terminal.until("burner")
            assert re.search(r"1 +4001 +124\.8 +0\.3 +burner", terminal.text)
            assert "procfs, 75 tasks, 1 lost (not permitted to use BPF)" in terminal.text


def test_totals_are_seconds_and_groups_have_a_number_of_processes() -> None:
    said = answer("ssh.service", by="total", group="unit", elapsed_seconds=None)
    del said["elapsed_seconds"]
    said["groups"] = said.pop("processes")
    said["groups"][0]["processes"] = 17
    del said["groups"][0]["pid"]
    with serving(Asked(body(said))) as server:
        options = ("--by", "total", "--group", "unit", server.address)
        plain = watch("--count", "1", *options).stdout
        assert re.search(r"rank processes +user_s +system_s unit$", plain, re.MULTILINE)
        assert re.search(r"^ +1 +17 +9\.98 +0\.02 ssh\.service$", plain, re.MULTILINE)
        [line] = watch("--count", "1", "--json", *options).stdout.splitlines()
        assert {key: json.loads(line)[key] for key in ("group", "groups")} == {
            "group": "unit",
            "groups": [
                {
                    "rank": 1,
                    "processes": 17,
                    "name": "ssh.service",
                    "user_seconds": 9.98,
                    "system_seconds": 0.02,
                }
            ],
        }
        with on_screen(server.address) as terminal:
            terminal.until("ssh.service")
            assert re.search(r"# +PROCS +USER S +SYS S +unit", terminal.text)


def test_rows_that_find_no_room_are_in_the_last_one() -> None:
    said = answer(*(f"name-{number}" for number in range(1, 31)))
    with serving(Asked(body(said))) as server, on_screen(server.address, lines=12) as terminal:
        shown = terminal.until("everything else")
        rows = len(re.findall(r"name-\d", shown))
        assert 1 <= rows < 30
        # 1.25 s and 9.98 s for each hidden one, of 10 s.
        hidden = 30 - rows
        assert f"{12.5 + 99.8 * hidden:.1f}" in shown
        assert f"everything else: {73 + hidden})" in shown


HOSTILE = [
    "\x1b]0;owned\x07title",
    "\x1b[2J\x1b[1;1Hcleared",
    "\x9b31mred",
    "back\b\b\b\rspace",
    "\u202eesrever",
    "zero\u200bwidth",
    "nul\x00byte",
    "lone \ud800 half",
    "a) R 1 (b",
    "new\\nline",
]


def check_clean(written: bytes) -> None:
    """No control character of the server's is in it, whatever the terminal's own sequences are."""
    text = written.decode("utf-8")
    assert not re.search("[\x80-\x9f\u200b\u202e\x07\x00]", text)
    assert "\x1b]" not in text
    assert "\x1b[2J\x1b[1;1H" not in text


def test_nothing_that_a_server_says_reaches_the_terminal_raw() -> None:
    said = answer(*HOSTILE, host="evil\x1b[1m\n", source="\x1b[5mprocfs")
    with serving(Asked(body(said))) as server:
        with on_screen(server.address, columns=120) as terminal:
            shown = terminal.until("everything else")
            for seen in (
                r"\x1b]0;owned\x07title",
                r"\xc2\x9b31mred",
                r"back\x08\x08\x08\x0dspace",
                r"\xe2\x80\xaeesrever",
                r"zero\xe2\x80\x8bwidth",
                r"nul\xc0\x80byte",
                r"lone \xed\xa0\x80 half",
                "a) R 1 (b",
                r"new\nline",
                r"evil\x1b[1m\x0a",
            ):
                assert seen in shown
            check_clean(terminal.raw)
        result = subprocess.run(
            [CLIENT, "--watch", "--count", "1", server.address],
            capture_output=True,
            timeout=PATIENCE_S,
            check=True,
        )
        assert b"\x1b" not in result.stdout
        assert result.stdout.isascii()  # of this locale, C, nothing else can be shown
        check_clean(result.stdout)


def test_a_process_with_a_hostile_name_is_shown_escaped(pair: tuple[Server, Server]) -> None:
    burn = (
        "import ctypes, time\n"
        "ctypes.CDLL(None).prctl(15, b'\\x1b[2J\\n\\xff) R 1', 0, 0, 0)\n"
        f"end = time.monotonic() + {PATIENCE_S}\n"
        "while time.monotonic() < end: pass\n"
    )
    with subprocess.Popen([sys.executable, "-c", burn]) as burner:
        try:
            options = ("--window", "1", "-n", "64", pair[0].address)
            with on_screen(*options, lines=80) as terminal:
                terminal.until(r"\x1b[2J\n\xff) R 1")
                check_clean(terminal.raw)
        finally:
            burner.kill()


def test_bytes_that_are_not_utf_8_are_escaped() -> None:
    said = json.dumps(answer("XX")).encode().replace(b"XX", b"\xff\xfe\x80name")
    with (
        serving(Asked(http(said, headers=b"Connection: close\r\n"))) as server,
        on_screen(server.address) as terminal,
    ):
        terminal.until(r"\xff\xfe\x80name")
        terminal.raw.decode("utf-8")


def test_wide_characters_do_not_shift_the_next_column() -> None:
    wide, plain = Asked(body(answer("日本語" * 20))), Asked(body(answer("plain")))
    with (
        serving(wide) as left,
        serving(plain) as right,
        on_screen(left.address, right.address) as terminal,
    ):
        terminal.until(lambda: "plain" in terminal.text and "日本" in terminal.text)
        title = next(y for y, line in enumerate(terminal.lines) if "NAME" in line)
        cells = terminal.screen.buffer[title]
        second = [x for x in range(99) if cells[x].data == "#"][1]
        below = terminal.screen.buffer[title + 1]
        assert below[second].data == "1"
        assert "".join(below[x].data for x in range(second, 100)).split()[-1] == "plain"
        assert "…" in terminal.lines[title + 1]


def drip(connection: socket.socket, _number: int) -> None:
    """A head, and then a body that never ends."""
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{")
    try:
        while True:
            connection.sendall(b'"host": "\x1b[31m", ' * 100)
            time.sleep(0.001)
    except OSError:
        return


NONSENSE = {
    "garbage": (os.urandom(3000).replace(b"\n", b"x") + b"\n", "no regatta-server answers there"),
    "escapes": (b"\x1b[2J\x1b]0;owned\x07\n", "no regatta-server answers there"),
    "another server": (http(b"<html>hello</html>"), "not the JSON of a regatta-server"),
    "empty": (b"", "ended before the answer was complete"),
    "half": (http(b"x" * 99)[:-30], "ended before the answer was complete"),
    "deep": (http(b'{"a":' + b"[" * 100000), "not the JSON of a regatta-server"),
    "huge": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" + b" " * 600000,
        "the answer is too long",
    ),
    "no time": (body(answer("x", elapsed_seconds=0)), "not the JSON of a regatta-server"),
    "too many rows": (body(answer(*["x"] * 65)), "not the JSON of a regatta-server"),
    "huge numbers": (
        body(answer("x", rest={"user_seconds": 10**30, "system_seconds": 0})),
        "not the JSON of a regatta-server",
    ),
    "refusal": (
        http(b"error: \x1b[31mno such window\n", b"400 Bad Request", b"Connection: close\r\n"),
        r"refused: 400 Bad Request: error: \x1b[31mno such window; again",
    ),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_a_host_that_answers_nonsense_is_shown_as_failing(
    kind: str, pair: tuple[Server, Server]
) -> None:
    reply, reason = NONSENSE[kind]

    def handler(connection: socket.socket, _number: int) -> None:
        connection.recv(4096)
        try:
            connection.sendall(reply)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
        except OSError:
            return

    with serving(handler) as server:
        result = watch("--count", "1", server.address, pair[0].address)
    assert "FAILING for" in result.stdout
    assert reason in result.stdout
    assert result.stdout.count("ok, ") == 1
    assert result.returncode == 0
    assert "\x1b" not in result.stdout


def test_a_body_without_end_is_bounded_and_costs_the_other_nothing(
    pair: tuple[Server, Server],
) -> None:
    with (
        serving(drip) as endless,
        on_screen(endless.address, pair[0].address, "--timeout", "20000") as terminal,
    ):
        shown = terminal.until("the answer is too long")
        assert "ok, " in shown
        status = Path(f"/proc/{terminal.pid}/status").read_text()
        assert int(re.search(r"VmHWM:\s+(\d+)", status)[1]) < 16 * 1024  # type: ignore[index]
        check_clean(terminal.raw)
        terminal.press("q")
        terminal.end()


def test_the_token_is_said(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("0123456789abcdef-watch\n")
    token.chmod(0o600)
    with running(tmp_path, "--allow", "127.0.0.0/8", "--token-file", str(token)) as server:
        refused = watch("--count", "1", server.address)
        assert "FAILING" in refused.stdout
        assert "refused: 401 " in refused.stdout
        assert refused.returncode == 1
        options = ("--by", "total", "--token-file", str(token))
        allowed = watch("--count", "1", *options, server.address)
        assert "): ok, " in allowed.stdout
    token.chmod(0o644)
    result = watch("--token-file", str(token), server.address)
    assert result.returncode == 2
    assert "--token-file" in result.stderr


# Keys


def last(asked: Asked) -> str:
    return asked.targets[-1]


def test_keys_change_what_is_asked() -> None:
    asked = Asked(body(answer("x")))
    with serving(asked) as server, on_screen("-n", "7", server.address) as terminal:
        terminal.until("everything else")
        assert last(asked) == "/top?n=7&format=json&by=recent&window=10s"
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
            terminal.until(lambda wanted=wanted: last(asked) == wanted)  # type: ignore[misc]
        terminal.until("recent 1 s")
        assert "+ - more or fewer rows" not in terminal.text
        terminal.press("h")
        terminal.until("+ - more or fewer rows")
        terminal.press(" ")
        terminal.until("PAUSED")
        paused_at = len(asked.targets)
        terminal.pump(0.5)
        terminal.pump(0.5)
        assert len(asked.targets) <= paused_at + 1  # one may have been under way
        terminal.press(" ")
        terminal.until(lambda: len(asked.targets) > paused_at + 2)
        assert "PAUSED" not in terminal.text


def test_a_screen_asks_for_as_many_rows_as_find_room() -> None:
    asked = Asked(body(answer("x")))
    with serving(asked) as server, on_screen(server.address, lines=24) as terminal:
        terminal.until("everything else")
        assert "n=17&" in last(asked)
        terminal.resize(100, 60)
        terminal.until(lambda: "n=53&" in last(asked))
        terminal.resize(100, 200)
        terminal.until(lambda: "n=64&" in last(asked))


def test_a_key_asks_a_failed_host_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
    with on_screen("--by", "total", "--interval", "3600", address) as terminal:
        terminal.until("UNREACHABLE")
        with running(tmp_path, listen=address):
            terminal.press("r")
            terminal.until("ok, ")


# The terminal


def test_nothing_is_echoed_and_the_cursor_is_off_meanwhile(pair: tuple[Server, Server]) -> None:
    with on_screen(pair[0].address) as terminal:
        terminal.until("ok, ")
        assert terminal.screen.cursor.hidden
        assert terminal.modes() != terminal.modes_before
        terminal.press("xyzxyz")
        terminal.pump(0.3)
        assert "xyz" not in terminal.text


ENDS: dict[str, tuple[Callable[[Terminal], None], int]] = {
    "q": (lambda terminal: terminal.press("q"), 0),
    "Ctrl-C": (lambda terminal: terminal.press("\x03"), 130),
    "SIGTERM": (lambda terminal: terminal.kill(signal.SIGTERM), 143),
    "SIGHUP": (lambda terminal: terminal.kill(signal.SIGHUP), 129),
    "crash": (lambda terminal: terminal.kill(signal.SIGSEGV), -signal.SIGSEGV),
    "abort": (lambda terminal: terminal.kill(signal.SIGABRT), -signal.SIGABRT),
    "Ctrl-\\": (lambda terminal: terminal.press("\x1c"), -signal.SIGQUIT),
}


@pytest.mark.parametrize("how", ENDS)
def test_the_terminal_is_left_as_it_was_found(
    how: str, pair: tuple[Server, Server], tmp_path: Path
) -> None:
    end, status = ENDS[how]
    script = 'ulimit -c 0; printf "what was there\\n"; cd "$1"; shift; exec "$@"'
    with in_terminal(
        *("/bin/sh", "-c", script, "sh", str(tmp_path), CLIENT, "--watch", "--interval", "0.2"),
        pair[0].address,
    ) as terminal:
        terminal.until("ok, ")
        assert "what was there" not in terminal.text
        end(terminal)
        assert terminal.end() == status
        assert terminal.modes() == terminal.modes_before
        assert not terminal.screen.cursor.hidden
        assert terminal.lines[0].rstrip() == "what was there"
        assert "".join(terminal.lines[1:]).strip() == ""


def test_ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(pair: tuple[Server, Server]) -> None:
    with in_terminal("/bin/bash", "--norc", "--noprofile", "--noediting", "-i", PS1="ready> ") as (
        terminal
    ):
        terminal.until("ready> ")
        before = terminal.modes()
        terminal.press(f"{CLIENT} --watch --interval 0.2 {pair[0].address}\n")
        terminal.until("ok, ")
        for _ in range(2):
            terminal.press("\x1a")
            terminal.until("Stopped")
            assert "NAME" not in terminal.text
            assert terminal.modes() == before
            assert not terminal.screen.cursor.hidden
            terminal.press("fg\n")
            terminal.until(lambda: "ok, " in terminal.text and "Stopped" not in terminal.text)
            assert terminal.screen.cursor.hidden
            assert terminal.modes() != before
        terminal.press("q")
        terminal.until(lambda: terminal.text.rstrip().endswith("ready>"))
        terminal.press("echo status=$?\n")
        terminal.until("status=0")
        assert terminal.modes() == before
        terminal.press("exit\n")
        terminal.end()


def test_a_terminal_that_goes_away_ends_it(pair: tuple[Server, Server]) -> None:
    master, slave = os.openpty()
    process = subprocess.Popen(
        [CLIENT, "--watch", "--interval", "0.2", pair[0].address],
        stdin=slave,
        stdout=slave,
        stderr=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(slave)
    assert os.read(master, 1)
    os.close(master)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 129


# Without a screen


@pytest.mark.parametrize("kind", ["dumb", "", "no-such-terminal"])
def test_a_terminal_that_cannot_do_it_gets_plain_text(
    kind: str, pair: tuple[Server, Server]
) -> None:
    with on_screen("--count", "2", pair[0].address, TERM=kind) as terminal:
        assert terminal.end() == 0
        assert b"\x1b" not in terminal.raw
        assert terminal.raw.count(b"ok, ") == 2
        assert terminal.modes() == terminal.modes_before


def test_a_pipe_gets_a_table_for_each_refresh(pair: tuple[Server, Server]) -> None:
    one, two = pair
    result = watch("--count", "3", "--interval", "0.2", "-n", "4", one.address, two.address)
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.count(f"({one.address}): ok, ") == 3
    assert result.stdout.count(f"({two.address}): ok, ") == 3
    ranks = re.findall(r"^ +(\d) +\d+ +\d+\.\d+ +\d+\.\d+ \S", result.stdout, re.MULTILINE)
    assert ranks == ["1", "2", "3", "4"] * 6


def test_json_is_one_object_a_line(pair: tuple[Server, Server]) -> None:
    asked = Asked(body(answer('quote" \\ \x1b \x9b é', "b")))
    with serving(asked) as server:
        result = watch(
            *("--json", "--count", "2", "--interval", "0.2"),
            *(server.address, pair[0].address, "127.0.0.1:1"),
        )
    assert "\x1b" not in result.stdout
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["state"] for line in lines] == ["ok", "ok", "unreachable"] * 2
    said, real, refused = lines[:3]
    assert refused["reason"] == "Connection refused"
    assert refused["failing_seconds"] >= 0
    assert said["target"] == server.address
    expected = answer('quote" \\ \x1b \x9b é', "b")
    assert {key: said[key] for key in expected} == expected
    assert len(real["processes"]) == 10
    assert real["tasks_seen"] > 0


def test_a_reader_that_leaves_ends_it(pair: tuple[Server, Server]) -> None:
    process = subprocess.Popen(
        [CLIENT, "--watch", "--interval", "0.1", pair[0].address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(PATIENCE_S) != 0
    process.communicate()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_without_a_screen_too(
    number: int, status: int, pair: tuple[Server, Server]
) -> None:
    process = subprocess.Popen(
        [CLIENT, "--watch", "--interval", "0.1", pair[0].address], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == status


def test_no_host_ever_answered_is_a_failure() -> None:
    result = watch("--count", "2", "--interval", "0.1", "127.0.0.1:1", "[::1]:1")
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "no host answered; 127.0.0.1:1: Connection refused" in result.stderr


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--interval", "0"], "--interval must be a number of seconds from 0.1 to 3600, not '0'"),
        (["--interval", "x"], "--interval must be"),
        (["--count", "0"], "--count must be a number from 1"),
        (["-n", "65"], "--top must be a number from 1 to 64, not '65'"),
        (["--window", "61"], "--window must be a number of seconds from 1 to 60, not '61'"),
        (["--window", "10000000000"], "--window must be"),
        (["--by", "total", "--window", "5"], "--window is for --by recent"),
        (["--by", "most"], "--by must be recent or total, not 'most'"),
        (["--group", "user"], "--group must be none, name, unit or cgroup, not 'user'"),
        (["--rounds", "2"], "unknown option --rounds; see --watch --help"),
        (["-c", "2"], "unknown option -c; see --watch --help"),
        (["a:b"], "'a:b': the port must be a number"),
        (["a b"], "the name must be of printable ASCII"),
        (["h"] * 65, "64 hosts at most, not 65"),
        (["--json=1"], "--json=1 takes no value"),
    ],
)
def test_a_wrong_option_is_told_in_one_line(options: list[str], complaint: str) -> None:
    result = watch(*options)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert complaint in result.stderr
    assert result.stdout == ""


def test_the_help_names_every_option_and_key() -> None:
    result = watch("--help")
    assert result.returncode == 0
    for option in ("--top", "--by", "--window", "--group", "--interval", "--count", "--json"):
        assert option in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100
    general = subprocess.run([CLIENT, "--help"], capture_output=True, text=True, check=True)
    assert "--watch" in general.stdout
