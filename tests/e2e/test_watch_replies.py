"""regatta-client --watch: valid, hostile and malformed replies."""

import json
import os
import re
import socket
import time
from pathlib import Path

import pytest

from tests.commands import run_well
from tests.e2e.scripted_servers import http, serving, silent
from tests.e2e.watched_hosts import CLIENT, Pair, answer, answering, on_screen, watch
from tests.servers import running
from tests.tokens import token_file


def test_shares_refer_to_the_elapsed_time() -> None:
    with serving(answering(answer("burner", elapsed_seconds=8.0))) as server:
        plain = watch("--count", "1", server.address).stdout
        assert re.search(r"^ +1 +4001 +124\.8 +0\.3 burner$", plain, re.MULTILINE)
        assert re.search(r"- +15\.6 +6\.3 \(everything else: 73\)$", plain, re.MULTILINE)
        assert re.search(r"ok, 0\.\d s old, over 8\.0 s", plain)
        assert "source procfs, 75 tasks, 1 lost (not permitted to use BPF)" in plain
        with on_screen(server.address) as terminal:
            terminal.until("burner")
            assert re.search(r"1 +4001 +124\.8 +0\.3 +burner", terminal.text)
            assert "procfs, 75 tasks, 1 lost (not permitted to use BPF)" in terminal.text


def test_totals_are_seconds_and_groups_have_a_number_of_processes() -> None:
    reply = answer("ssh.service", by="total", group="unit", elapsed_seconds=None)
    del reply["elapsed_seconds"]
    reply["groups"] = reply.pop("processes")
    reply["groups"][0]["processes"] = 17
    del reply["groups"][0]["pid"]
    with serving(answering(reply)) as server:
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


HOSTILE = {
    "\x1b]0;owned\x07title": r"\x1b]0;owned\x07title",
    "\x1b[2J\x1b[1;1Hcleared": r"\x1b[2J\x1b[1;1Hcleared",
    "\x9b31mred": r"\xc2\x9b31mred",
    "back\b\b\b\rspace": r"back\x08\x08\x08\x0dspace",
    "\u202eesrever": r"\xe2\x80\xaeesrever",
    "zero\u200bwidth": r"zero\xe2\x80\x8bwidth",
    "tag\U000e0041ged": r"tag\xf3\xa0\x81\x81ged",
    "nul\x00byte": r"nul\xc0\x80byte",
    "lone \ud800 half": r"lone \xed\xa0\x80 half",
    "a) R 1 (b": "a) R 1 (b",
    "new\\nline": r"new\nline",
}
"""Names, and how they are shown."""


def check_clean(written: bytes) -> None:
    """No control sequence of the server is in it, only the client's own."""
    text = written.decode("utf-8")
    assert not re.search("[\x80-\x9f\u200b\u202e\U000e0041\x07\x00]", text)
    assert "\x1b]" not in text
    assert "\x1b[2J\x1b[1;1H" not in text


def test_replies_reach_the_terminal_escaped() -> None:
    reply = answer(*HOSTILE, host="evil\x1b[1m\n", source="\x1b[5mprocfs")
    with serving(answering(reply)) as server:
        with on_screen(server.address, columns=120) as terminal:
            shown = terminal.until("everything else")
            for seen in (*HOSTILE.values(), r"evil\x1b[1m\x0a"):
                assert seen in shown
            check_clean(terminal.raw)
        printed = run_well(CLIENT, "--watch", "--count", "1", server.address)
        assert "\x1b" not in printed
        assert printed.isascii()  # the locale is C
        check_clean(printed.encode())
        [line] = watch("--count", "1", "--json", server.address).stdout.splitlines()
        check_clean(line.encode())
        names = [row["name"] for row in json.loads(line)["processes"]]
        assert {"\u202eesrever", "zero\u200bwidth", "tag\U000e0041ged"} <= set(names)


def test_wide_characters_do_not_shift_the_next_column() -> None:
    with (
        serving(answering(answer("日本語" * 20))) as left,
        serving(answering(answer("plain"))) as right,
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
    """Sends a head and an endless body."""
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{")
    while True:
        connection.sendall(b'"host": "\x1b[31m", ' * 100)
        time.sleep(0.001)


NO_JSON = "not the JSON of a regatta-server"
NONSENSE = {
    "garbage": (os.urandom(3000).replace(b"\n", b"x") + b"\n", "no regatta-server answers there"),
    "another server": (http(b"<html>hello</html>"), NO_JSON),
    "half": (http(b"x" * 99)[:-30], "closed before the answer was complete"),
    "deep": (http(b'{"a":' + b"[" * 100000), NO_JSON),
    "huge": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" + b" " * 600000,
        "the answer is too long",
    ),
    "too many rows": (http(json.dumps(answer(*["x"] * 65)).encode()), NO_JSON),
    "refusal": (
        http(b"error: \x1b[31mno such window\n", b"400 Bad Request", b"Connection: close\r\n"),
        r"refused: 400 Bad Request: error: \x1b[31mno such window; again",
    ),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_a_malformed_reply_is_shown_as_failing(kind: str, pair: Pair) -> None:
    reply, reason = NONSENSE[kind]

    def handler(connection: socket.socket, number: int) -> None:
        connection.recv(4096)
        connection.sendall(reply)
        connection.shutdown(socket.SHUT_WR)
        silent(connection, number)

    with serving(handler) as server:
        result = watch("--count", "1", server.address, pair[0].address)
    assert "FAILING for" in result.stdout
    assert reason in result.stdout
    assert result.stdout.count("ok, ") == 1
    assert result.returncode == 0
    assert "\x1b" not in result.stdout


def test_an_endless_body_is_cut_off_without_harm_to_other_hosts(pair: Pair) -> None:
    with (
        serving(drip) as endless,
        on_screen(endless.address, pair[0].address, "--timeout", "20000") as terminal,
    ):
        terminal.until("the answer is too long")
        terminal.until("ok, ")
        status = Path(f"/proc/{terminal.pid}/status").read_text()
        assert int(re.search(r"VmHWM:\s+(\d+)", status)[1]) < 16 * 1024
        check_clean(terminal.raw)
        terminal.press("q")
        terminal.end()


def test_the_token_is_sent(tmp_path: Path) -> None:
    token = token_file(tmp_path)
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
