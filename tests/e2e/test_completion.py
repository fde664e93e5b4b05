"""Completion in a real bash, with the same options as --help."""

import os
import pty
import re
import select
import signal
import time
from pathlib import Path

import pytest

from tests.commands import run
from tests.e2e.test_manual import PROGRAMS, help_of, helped
from tests.servers import PATIENCE_S, REPOSITORY, designs, needs, program, table

FOLDER = REPOSITORY / "deploy/completion"


def complete(name: str, *words: str) -> list[str]:
    """Completions of the last word, called as bash does."""
    function = "_" + name.replace("-", "_")
    script = f"""
        source {FOLDER / name}.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        {function}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = run(needs("bash"), "--norc", "-c", script, "bash", program(name), *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_every_design_is_offered() -> None:
    listed = [design.name for design in table()]
    assert complete("regatta-server", "--design", "") == listed
    assert complete("regatta-server", "-d", "") == listed
    assert complete("regatta-server", "--quiet", "--design", "=", "") == listed
    assert complete("regatta-server", "--design", "prefork-") == [
        name for name in listed if name.startswith("prefork-")
    ]
    assert complete("regatta-server", "--design", "=") == listed


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_options_offered_are_those_of_the_help(name: str) -> None:
    assert sorted(complete(name, "-")) == sorted(helped(name))


def test_with_watch_the_options_are_those_of_watch() -> None:
    wanted = sorted(helped("regatta-client", "--watch"))
    assert sorted(complete("regatta-client", "--watch", "-")) == wanted
    assert sorted(complete("regatta-client", "alpha", "--watch", "--json", "-")) == wanted
    assert complete("regatta-client", "--watch", "--group", "=", "c") == ["cgroup"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_value_is_offered_for_every_option_that_takes_one(name: str) -> None:
    """Or nothing, but never another option."""
    for option in helped(name):
        takes_value = re.search(rf"^ .*{option} +[A-Z]", help_of(name), re.MULTILINE)
        offered = complete(name, option, "")
        if takes_value:
            assert not [each for each in offered if each.startswith("-")], option


def test_files_and_words_are_offered(tmp_path: Path) -> None:
    (tmp_path / "token-of-ours").write_text("")
    assert complete("regatta-server", "--token-file", f"{tmp_path}/tok") == [
        f"{tmp_path}/token-of-ours"
    ]
    assert complete("regatta-server", "--work", "s") == [
        "scan",
        "snapshot",
        "spin=50us",
        "scan+spin=50us",
    ]
    assert "root" in complete("regatta-server", "--user", "roo")
    assert complete("regatta-client", "--engine", "") == ["epoll", "thread", "fork"]
    assert complete("regatta-client", "--load", "=", "o") == ["open"]


def test_tab_completes_a_design_interactively() -> None:
    assert "epoll-workers" in designs()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["PATH"] = f"{Path(program('regatta-server')).parent}:{os.environ['PATH']}"
        os.environ["TERM"] = "dumb"
        os.execv(needs("bash"), ["bash", "--norc", "--noprofile", "-i"])
    seen = b""
    try:
        os.write(terminal, f". {FOLDER}/regatta-server.bash\n".encode())
        os.write(terminal, b"regatta-server --design epoll-w\t")
        deadline = time.monotonic() + PATIENCE_S
        while b"--design epoll-workers " not in seen:
            ready, _, _ = select.select([terminal], [], [], deadline - time.monotonic())
            assert ready, seen
            seen += os.read(terminal, 4096)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(pid, 0)
