"""`regatta versus` with servers as users write them, good and bad, through the real command."""

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import Done, assert_refused, run
from tests.control_groups import no_group_is_left
from tests.e2e.racing import (
    PRIORITY,
    alone,
    environment,
    needs_programs,
    needs_two_cpus,
    regatta,
)
from tests.e2e.toy_servers import user_server
from tests.e2e.user_server import DIES_AFTER
from tests.ledgers import rows
from tests.processes import marked
from tests.sockets import free_port
from tests.waiting import wait_until

pytestmark = [needs_programs, needs_two_cpus]
LIFE_S = 300.0
SHORT = ("--time", "1s", "--warmup-limit", "0", "--connections", "4", "--seed", "1")


def server(how: str, *more: object) -> str:
    """The command of the server with this fault, under the fault's name."""
    return f"{how}={user_server(how, *more)}"


def settings(folder: Path) -> dict[str, str]:
    """The environment: what is started is marked, and temporary files are in `tmp`."""
    (folder / "tmp").mkdir(exist_ok=True)
    return environment(str(folder)) | {"TMPDIR": str(folder / "tmp"), "COLUMNS": "100"}


def versus(folder: Path, *words: str) -> Done:
    command = (*PRIORITY, *regatta("versus", *words))
    with alone():
        done = run(*command, cwd=folder, env=settings(folder), timeout=LIFE_S)
    assert not re.search("^Traceback", done.stderr, re.MULTILINE)  # ours
    return done


def nothing_left(folder: Path) -> None:
    """No process, temporary file or control group."""
    wait_until(lambda: not marked(folder), lambda: f"left: {marked(folder)}")
    assert list((folder / "tmp").iterdir()) == []
    assert list(folder.glob("races/*/.trial")) == []
    no_group_is_left()


@pytest.mark.long
def test_the_screen_says_which_is_better(tmp_path: Path) -> None:
    """A server, and one that takes 0.4 ms of CPU time more."""
    done = versus(tmp_path, server("well"), server("slow"), *SHORT)
    assert done.returncode == 0, done.stderr
    screen = " ".join(done.stdout.split())
    says = re.search(
        r"CPU per request: well is (?:best|ahead); slow takes ([\d.]+) times as much "
        r"\(([\d.]+)[^\d.]+([\d.]+)\)",
        screen,
    )
    assert says, screen
    value, low, high = map(float, says.groups())
    assert 1 < low < value < high
    nothing_left(tmp_path)


# What else cannot race: tests/lab/verbs/test_first_look.py and test_servers.py.
def test_servers_that_cannot_race_get_one_line_each(tmp_path: Path) -> None:
    with socket.create_server(("0.0.0.0", 0)) as listener:
        port, free = listener.getsockname()[1], free_port()
        faults = {
            "throws": "RuntimeError: no database at db.example:5432",
            "taken": "listen on {port} alone, or stop the program that has its other port",
            "elsewhere": f"it listens on port {free}; it must listen on {{port}}",
        }
        ports: dict[str, tuple[int, ...]] = {"taken": (port,), "elsewhere": (free,)}
        done = versus(tmp_path, *(server(how, *ports.get(how, ())) for how in faults), *SHORT)
    assert (done.returncode, done.stdout) == (1, "")
    printed = [line for line in done.stderr.splitlines() if line.startswith("  throws: ")]
    assert printed[0] == "  throws: Traceback (most recent call last):"
    _, *lines = (line for line in done.stderr.splitlines() if not line.startswith("  "))
    assert len(lines) == len(faults)
    for line, (how, fault) in zip(lines, faults.items(), strict=True):
        assert line.startswith(f"regatta: {how}: ")
        assert fault in line
    nothing_left(tmp_path)
    assert not (tmp_path / "races").exists()


def test_a_command_that_is_not_executable_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    done = versus(tmp_path, server("well"), "./script {port}")
    assert_refused(done, name="regatta")
    assert "./script is not executable; chmod +x ./script" in done.stderr


@pytest.mark.long
def test_what_makes_a_comparison_unfair_is_noted(tmp_path: Path) -> None:
    ways = ("confined", "varies")
    done = versus(tmp_path, *map(server, ways), *SHORT, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for note in (
        "raced on loopback, as confined listens only on 127.0.0.1",
        "varies: GET / varies; any 8 to 28 bytes pass",
        "varies 8 to 28 bytes of text/plain",
    ):
        assert any(note in line for line in found["looked_at"]), found["looked_at"]
    (group,) = found["groups"]
    assert {cell["contender"] for cell in group["cells"]} == set(ways)
    nothing_left(tmp_path)


@pytest.mark.long
def test_a_server_that_dies_under_load_is_named_with_the_reason(tmp_path: Path) -> None:
    done = versus(tmp_path, server("well"), server("dies"), *SHORT, "--quiet")
    assert done.returncode == 1
    assert f"out of memory after {DIES_AFTER} requests" in done.stderr
    nothing_left(tmp_path)


def interrupted(folder: Path, when: str, *words: str) -> tuple[str, str]:
    """What it printed until the line that begins with this pattern, where Ctrl-C came, and what it
    complained then."""
    printed = ""
    command = [*PRIORITY, *regatta("versus", *words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with alone(), subprocess.Popen(command, cwd=folder, env=settings(folder), **pipes) as lab:
        for line in lab.stderr:
            printed += line
            if re.match(when, line):
                break
        lab.send_signal(signal.SIGINT)
        _, more = lab.communicate(timeout=LIFE_S)
        complaint = more[more.index("regatta: ") :]
    assert lab.returncode == 130, complaint
    return printed, complaint


SMALLEST = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"hello\\n")

HTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
"""
"""The queue of Python's http.server holds 5 clients; with 50, each trial takes half a minute."""


def test_a_server_with_a_short_listen_queue_is_raced_over_fewer_connections(
    tmp_path: Path,
) -> None:
    (tmp_path / "smallest.py").write_text(SMALLEST)
    smallest = f"{sys.executable} smallest.py {{port}}"
    printed, _ = interrupted(tmp_path, r"search 1/", smallest, server("well"), *SHORT[2:4])
    says = re.search(
        r"smallest took only \d+ of 50 connections that were opened at once, as its listen "
        r"queue is short: raced over (\d+)\n",
        printed,
    )
    assert says, printed
    assert f"· {says[1]} connections ·" in printed.splitlines()[-1]
    nothing_left(tmp_path)


def test_ctrl_c_keeps_the_trials_and_says_how_to_go_on(tmp_path: Path) -> None:
    words = (server("well"), server("slow"), "--time", "30s", "--width", "1", *SHORT[2:])
    _, complaint = interrupted(tmp_path, r"\d+/\d+ block ", *words)
    (race,) = (tmp_path / "races").iterdir()
    assert complaint == (
        "regatta: interrupted; finished trials are kept. Continue with: regatta race --resume "
        f"races/{race.name}\n"
    )
    assert rows(race, "SELECT count(*) FROM trial")[0][0] >= 1
    nothing_left(tmp_path)
