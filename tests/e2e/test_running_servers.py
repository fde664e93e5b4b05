"""Servers that run already: raced, accounted and left running."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from regatta.errors import StudyError, TrialError
from regatta.measure.accounts.cgroup import ControlGroup, find_home
from regatta.measure.accounts.process_tree import cpu_clock_ns
from regatta.measure.network import ports
from regatta.measure.trial.server import account_of
from regatta.record.study import keys
from regatta.record.study.contender import Contender
from tests.commands import run
from tests.e2e.racing import environment, needs_programs, needs_two_cpus, regatta
from tests.ledgers import rows
from tests.servers import ONE_SNAPSHOT, RunningServer, running

SHORT = ("--time", "1s", "--warmup-limit", "0", "--connections", "2", "--seed", "1")
OURS = ("--design", "epoll", *ONE_SNAPSHOT)
PATH = "/top?n=2"

ORPHANS = """
import os, socket, threading
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
def serve(connection):
    with connection:
        while connection.recv(4096):
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
for _ in range(2):
    if os.fork() == 0:
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
print(listener.getsockname()[1], flush=True)
listener.close()
os.wait()
"""

pytestmark = [needs_programs, needs_two_cpus]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    (tmp_path / "one").mkdir()
    with running(tmp_path / "one", *OURS) as started:
        yield started


@pytest.fixture
def group() -> Iterator[ControlGroup]:
    home = find_home()
    if home is None:
        pytest.skip("no control group can be made here")
    found = home.make()
    yield found
    found.close()


def read(**changes: object) -> Contender:
    return keys.read(Contender, {"address": "127.0.0.1:80", **changes}, designs=(), folder=Path())


def test_a_race_of_two_leaves_them_running(
    tmp_path: Path, server: RunningServer, group: ControlGroup
) -> None:
    """Their CPU time is that of the process that listens, and that of a group."""
    with running(tmp_path, *OURS) as other:
        (group.path / "cgroup.procs").write_text(str(other.process.pid))
        began = [cpu_clock_ns(of.process.pid) for of in (server, other)]
        words = [f"a=http://{server.address}{PATH}", f"b=http://{other.address}{PATH}"]
        words += ["--account", f"b=cgroup:/{group.name}", "--out", str(tmp_path / "race")]
        done = run(*regatta("versus", *words, *SHORT), env=environment(), timeout=300)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
        assert "not started by the race, so how starts differ is in no interval: a, b" in (
            done.stdout
        )
        for of, since_ns in zip((server, other), began, strict=True):
            assert of.ask(b"top 2\n")
            assert of.process.poll() is None
            name = "a" if of is server else "b"
            used = rows(
                tmp_path / "race",
                "SELECT SUM(value), MIN(value), SUM(answered) FROM counter "
                "JOIN trial ON trial.id = trial_id JOIN cell ON cell.id = cell_id "
                f"WHERE event = 'cpu-time' AND side = 'server' AND contender = '{name}'",
            )
            ((ns, least_ns, answered),) = used
            assert 0 < least_ns <= ns <= cpu_clock_ns(of.process.pid) - since_ns
            assert 1e3 < ns / answered < 1e6


def test_one_whose_cpu_time_cannot_be_read(tmp_path: Path) -> None:
    """Two processes listen, and none has started the other: which is the server?"""
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, start_new_session=True
    ) as orphans:
        try:
            assert orphans.stdout
            port = int(orphans.stdout.readline())
            words = [f"{name}=http://127.0.0.1:{port}" for name in "ab"]
            out = str(tmp_path / "race")
            done = run(
                *regatta("versus", *words, *SHORT, "--out", out), env=environment(), timeout=300
            )
        finally:
            os.killpg(orphans.pid, signal.SIGKILL)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "CPU time and memory cannot be read from here: a, b" in " ".join(done.stdout.split())
    assert "not supported" in done.stdout
    assert "p50" in done.stdout


def test_the_listener_at_an_address() -> None:
    with socket.create_server(("127.0.0.3", 0)) as first:
        port = first.getsockname()[1]
        assert ports.listener("127.0.0.3", port) == os.getpid()
        assert ports.listener("127.0.0.2", port) is None
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as every:
        assert ports.listener("127.0.0.1", every.getsockname()[1]) == os.getpid()
        assert ports.listener("::1", every.getsockname()[1]) == os.getpid()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["http://:80/"], "is no address; write it as http://10.0.0.5:8080/path"),
        (["a=http://127.0.0.1:1", "--account", "a=1234"], "write pid:NUMBER, unit:NAME"),
        (["http://127.0.0.1:1", "--account", "b=pid:1"], "those that run are 127.0.0.1-1"),
        (["select", "--account", "b=pid:1"], "but none runs already"),
        (["http://10.255.0.9:1"], "load as they hold to 10.255.0.9:1. Are they yours? Then say"),
        (["http://127.0.0.1:1", "--cold", "5"], "its first requests are past; remove --cold"),
        (["http://127.0.0.1:1/x", "--path", "/y"], "--path and the path /x of an address exclude"),
        (
            ["http://127.0.0.1:1", "--placement", "netns"],
            "127.0.0.1-1 runs already: remove --placement netns",
        ),
    ],
)
def test_what_cannot_race_is_refused_in_one_line(words: list[str], said: str) -> None:
    done = run(*regatta("versus", "epoll", *words, *SHORT), env=environment())
    assert said in done.stderr
    assert done.returncode in {1, 2}
    assert done.stderr.count("\n") <= 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"address": "10.0.0.5"}, "must be where it listens, as 10.0.0.5:8080"),
        ({"account": "pid:x"}, "must be pid:NUMBER, unit:NAME, container:NAME or cgroup:/PATH"),
        ({"command": "x {port}"}, "names one that runs; remove one of them"),
        ({"with": {"db": "x {port}"}}, "`with` starts a server, but"),
        ({"address": None, "command": "x {port}", "account": "pid:1"}, "add its `address`"),
    ],
)
def test_keys_that_exclude_each_other(changes: dict[str, object], said: str) -> None:
    given = {key: value for key, value in ({"address": "h:1"} | changes).items() if value}
    with pytest.raises(StudyError) as found:  # noqa: PT011
        keys.read(Contender, given, designs=(), folder=Path())
    assert said in str(found.value)


def test_accounts(
    tmp_path: Path, server: RunningServer, group: ControlGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = server.process.pid
    assert account_of(read(address=server.address)) == (pid, None)
    assert account_of(read(address="192.0.2.1:80")) == (None, None), "it is on another host"
    assert account_of(read(account=f"pid:{pid}")) == (pid, None)
    with pytest.raises(TrialError, match="its account cgroup:/no/such cannot be read"):
        account_of(read(account="cgroup:/no/such"))
    with pytest.raises(TrialError, match="it has no process"):
        account_of(read(account=f"cgroup:/{group.name}"))
    member = subprocess.Popen(["sleep", "1000"])
    (group.path / "cgroup.procs").write_text(str(member.pid))
    assert account_of(read(account=f"cgroup:/{group.name}")) == (member.pid, group)
    # There is no systemd here: what it would print.
    stand_in = tmp_path / "systemctl"
    stand_in.write_text(f'#!/bin/sh\n[ "$5" = app.service ] && echo /{group.name}\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert account_of(read(account="unit:app.service")) == (member.pid, group)
    with pytest.raises(TrialError, match="no such unit runs"):
        account_of(read(account="unit:other"))
    for wrong in ("pid:4194305", "pid:0", "pid:99999999999"):
        with pytest.raises(TrialError, match=f"its account {wrong} cannot be read"):
            account_of(read(account=wrong))
    for ours in (f"pid:{os.getpid()}", f"pid:{os.getppid()}", "cgroup:/"):
        with pytest.raises(TrialError, match=f"its account {ours} includes the client's"):
            account_of(read(account=ours))
    member.kill()
    member.wait()
