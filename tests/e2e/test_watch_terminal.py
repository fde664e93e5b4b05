"""regatta-client --watch: the terminal is restored, and output without a terminal."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.scripted_servers import serving
from tests.e2e.terminal import Terminal, in_terminal
from tests.e2e.watched_hosts import CLIENT, Pair, answer, answering, on_screen, watch
from tests.processes import sleepers
from tests.servers import PATIENCE_S

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
def test_the_terminal_is_restored(how: str, pair: Pair, tmp_path: Path) -> None:
    end, status = ENDS[how]
    script = 'ulimit -c 0; printf "earlier output\\n"; cd "$1"; shift; exec "$@"'
    with in_terminal(
        *("/bin/sh", "-c", script, "sh", str(tmp_path), CLIENT, "--watch", "--interval", "0.2"),
        pair[0].address,
    ) as terminal:
        terminal.until("ok, ")
        assert "earlier output" not in terminal.text
        end(terminal)
        assert terminal.end() == status
        assert terminal.modes() == terminal.modes_before
        assert not terminal.screen.cursor.hidden
        assert terminal.lines[0].rstrip() == "earlier output"
        assert "".join(terminal.lines[1:]).strip() == ""


def test_ctrl_z_restores_the_terminal_and_fg_continues(pair: Pair) -> None:
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
            terminal.until(lambda: terminal.screen.cursor.hidden)  # drawn last
            assert terminal.modes() != before
        terminal.press("q")
        terminal.until(lambda: terminal.text.rstrip().endswith("ready>"))
        terminal.press("echo status=$?\n")
        terminal.until("status=0")
        assert terminal.modes() == before
        terminal.press("exit\n")
        terminal.end()


def test_a_lost_terminal_ends_it(pair: Pair) -> None:
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


@pytest.mark.parametrize("kind", ["dumb", "", "no-such-terminal"])
def test_a_terminal_without_cursor_control_gets_plain_text(kind: str, pair: Pair) -> None:
    with on_screen("--count", "2", pair[0].address, TERM=kind) as terminal:
        assert terminal.end() == 0
        assert b"\x1b" not in terminal.raw
        # On a busy machine the first refresh may come before the first answer.
        assert len(re.findall(rb"\): (?:ok, |waiting)", terminal.raw)) == 2
        assert terminal.modes() == terminal.modes_before


def test_a_pipe_gets_a_table_for_each_refresh(pair: Pair) -> None:
    first, second = pair
    result = watch("--count", "3", "--interval", "1", "-n", "4", first.address, second.address)
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.count(f"({first.address}): ok, ") == 3
    assert result.stdout.count(f"({second.address}): ok, ") == 3
    ranks = re.findall(r"^ +(\d) +\d+ +\d+\.\d+ +\d+\.\d+ \S", result.stdout, re.MULTILINE)
    assert ranks == ["1", "2", "3", "4"] * 6


def test_json_is_one_object_a_line(pair: Pair) -> None:
    expected = answer('quote" \\ \x1b \x9b é', "b")
    with serving(answering(expected)) as server, sleepers(10):
        result = watch(
            *("--json", "--count", "2", "--interval", "1"),
            *(server.address, pair[0].address, "127.0.0.1:1"),
        )
    assert "\x1b" not in result.stdout
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["state"] for line in lines] == ["ok", "ok", "unreachable"] * 2
    scripted, real, refused = lines[:3]
    assert refused["reason"] == "Connection refused"
    assert refused["failing_seconds"] >= 0
    assert scripted["target"] == server.address
    assert {key: scripted[key] for key in expected} == expected
    # The newest sleeper may have started after the scan.
    assert 0 < len(real["processes"]) <= 10
    assert real["tasks_seen"] > 0
