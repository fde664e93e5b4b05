"""A host that ssh reaches, the worker there, and what is asked of it.

One ssh carries all: it starts the worker, tells it what to do, and is the tunnel for both ways.
When it ends, for whatever reason, the host is lost, and the worker ends what it has started.
"""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from regatta.errors import HostLostError, PlacementError, RegattaError
from regatta.machine.cable import last_line
from regatta.machine.guard import guard_environment, guarded
from regatta.machine.line import readable
from regatta.machine.programs import need_tool
from regatta.study.hosts import HostName

if TYPE_CHECKING:
    from regatta.machine.hosts.engine import Engine

LOOPBACK = "127.0.0.1"
CLONE = Path(__file__).resolve().parents[3]
PORTS = range(20_000, 32_000)
CONNECT_S = 10
START_TIMEOUT_S = 60
START_TRIES = 3
TAKEN = ("forwarding", "in use")
"""What ssh or the worker says of a port that somebody has."""
BEAT_S = 1.0
LOOK_S = 0.5
FETCH_S = 20
"""Of an answer that is there."""
END_TIMEOUT_S = 5
# A cable that was pulled is noticed as soon as at the worker.
OPTIONS = (
    *("-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes", "-o", f"ConnectTimeout={CONNECT_S}"),
    *("-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=4", "-o", "ControlPath=none"),
)
T = TypeVar("T")


class Host:
    """Close it to end all that runs there."""

    def __init__(self, name: HostName, engine: Engine, company: list[Host]) -> None:
        """`company`: the hosts of the race, of which it becomes one."""
        self.name = name
        self.engine = engine
        self.company = company
        self.ssh: subprocess.Popen[bytes] | None = None
        self.root = Path()
        self.address = ""
        """At which ssh reached it."""
        self.worker = ""
        self.start()
        company.append(self)

    def __str__(self) -> str:
        return self.name.host

    def start(self) -> None:
        """Starts the worker. PlacementError says why it does not start."""
        for _ in range(START_TRIES):
            self.close()
            reason = self.try_start()
            if reason is None:
                return
            if not any(word in reason for word in TAKEN):
                break
        self.close()
        raise PlacementError(f"{self}: {reason}")

    def try_start(self) -> str | None:
        """None if all is well."""
        ours, there, back = random.sample(PORTS, 3)
        self.worker = f"tls://{LOOPBACK}:{ours}"
        tunnels = (
            *("-L", f"{LOOPBACK}:{ours}:{LOOPBACK}:{there}"),
            *("-R", f"{LOOPBACK}:{back}:{LOOPBACK}:{self.engine.port}"),
        )
        ssh = need_tool("ssh", "openssh-client")
        self.ssh = subprocess.Popen(
            guarded([ssh, *OPTIONS, *tunnels, *self.name.ssh_words(), "--", self.command()]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=guard_environment(),
            start_new_session=True,
        )
        task = {
            "scheduler": f"tls://{LOOPBACK}:{back}",
            "port": there,
            "contact": self.worker,
            "tls": self.engine.tls(),
        }
        assert self.ssh.stdin
        assert self.ssh.stdout
        assert self.ssh.stderr
        with suppress(BrokenPipeError):
            self.ssh.stdin.write(json.dumps(task).encode() + b"\n")
            self.ssh.stdin.flush()
        threading.Thread(target=beat, args=(self.ssh,), daemon=True).start()
        line = b""
        if readable(self.ssh.stdout.fileno(), time.monotonic() + START_TIMEOUT_S):
            line = self.ssh.stdout.readline()
        if not line:
            self.ssh.kill()
            return last_line(self.ssh.stderr.read().decode(errors="replace"))
        try:
            said = json.loads(line)
        except ValueError:
            return f"its shell prints something when ssh logs in: {line.decode(errors='replace')}"
        self.root, self.address = Path(said["root"]), said["address"]
        return None

    def command(self) -> str:
        """Regatta's worker, from the folder that the study names, or where it lies here."""
        folder = self.name.folder
        python = sys.executable if folder is None else f"{folder}/.venv/bin/python"
        module = "regatta.machine.hosts.worker"
        return f"cd {shlex.quote(folder or str(CLONE))} && exec {shlex.quote(python)} -m {module}"

    def close(self) -> None:
        """The worker's input ends, and so does the worker, and with it ssh."""
        if self.ssh is None:
            return
        for pipe in (self.ssh.stdin, self.ssh.stdout, self.ssh.stderr):
            assert pipe
            with suppress(OSError):
                pipe.close()
        try:
            self.ssh.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.ssh.kill()
            self.ssh.wait()
        self.ssh = None

    @property
    def is_lost(self) -> bool:
        return self.ssh is None or self.ssh.poll() is not None

    def ask(self, question: Callable[..., T], *args: Any, **named: Any) -> T:
        """What a function answers there."""
        answer: T = self.answer(
            lambda: self.engine.submit(self.worker, question, *args, actor=False, **named)
        )
        return answer

    def make(self, kind: Callable[..., Any], *args: Any, **named: Any) -> Far:
        """An object that lives there."""
        return Far(
            self,
            self.answer(lambda: self.engine.submit(self.worker, kind, *args, actor=True, **named)),
        )

    def answer(self, begin: Callable[[], Any], others: Sequence[Host] = ()) -> Any:
        """What comes of it; HostLostError if this host, or one of the others, is lost before."""
        if self.is_lost:
            raise self.lost()
        try:
            future = begin()
            while not self.engine.has_come(future, LOOK_S):
                for host in (self, *others):
                    if host.is_lost:
                        raise host.lost()
            return future.result(timeout=FETCH_S)
        except HostLostError:
            raise
        except RegattaError as error:
            raise type(error)(f"on {self}: {error}") from error
        except Exception as error:
            # ssh is gone a moment after the connections that it carried.
            if was_cut(error):
                self.close()
                raise self.lost() from error
            raise

    def lost(self) -> HostLostError:
        return HostLostError(f"the host {self} was lost: its worker or the way to it is gone")


def beat(ssh: subprocess.Popen[bytes]) -> None:
    """Tells the worker that the lab lives."""
    assert ssh.stdin
    with suppress(OSError, ValueError):
        while ssh.poll() is None:
            ssh.stdin.write(b".")
            ssh.stdin.flush()
            time.sleep(BEAT_S)


def was_cut(error: Exception) -> bool:
    """Whether the engine has lost the worker, in one of its many words for that."""
    names = {kind.__name__ for kind in type(error).__mro__}
    cut = {"CommClosedError", "KilledWorker", "CancelledError", "FutureCancelledError"}
    return bool(names & cut) or "Actor" in str(error)


class Far:
    """Stands here for an object on another host: each call is made there."""

    def __init__(self, host: Host, actor: Any) -> None:
        self.host = host
        self.actor = actor

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            return self.host.answer(lambda: getattr(self.actor, name)(*args, **named))

        return call

    def run(self, timeout_s: float, at_ns: int | None = None) -> Any:
        """A client waits for the server's host too.

        Its worker waits with it and hears nothing else meanwhile: who no longer waits ends it.
        """
        try:
            return self.host.answer(lambda: self.actor.run(timeout_s, at_ns), self.host.company)
        except BaseException as error:
            if isinstance(error, HostLostError) or not isinstance(error, RegattaError):
                self.host.close()
            raise

    def give_up(self) -> None:
        """Its worker waits and hears nothing."""
        self.host.close()

    def __enter__(self) -> Far:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(HostLostError):
            self.leave()
