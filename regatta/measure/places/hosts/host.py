"""A host of a race, and calls to the Dask worker there."""

from __future__ import annotations

import json
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from distributed import Client, Future, wait

from regatta.errors import HostLostError, PlacementError, RegattaError, TrialError
from regatta.measure.network.veth import last_line
from regatta.measure.places.hosts.worker import WorkerTask
from regatta.measure.places.side import readable
from regatta.measure.processes import with_input

CLOSE_S = 5
BEAT_S = 1.0
"""Between two heartbeats, which tell a worker that the lab is alive."""
START_TIMEOUT_S = 60
END_TIMEOUT_S = 5
POLL_S = 0.5
FETCH_S = 20
"""To fetch a result that is ready."""
T = TypeVar("T")


class TaskEngine(ABC):
    """The hosts of a race, and the Dask client that calls them.

    No task is retried or moved: a trial that is cut off has failed.
    """

    client: Client

    def __init__(self) -> None:
        self.hosts: list[Host] = []

    @abstractmethod
    def reach(self, name: str) -> Host:
        """Starts a worker on this host. PlacementError with the reason if it does not start."""

    def submit(
        self, worker: str, function: Callable[..., Any], *args: Any, actor: bool, **named: Any
    ) -> Any:
        """Submits a task to this worker only, without retries."""
        pinned = {"workers": [worker], "allow_other_workers": False, "retries": 0, "pure": False}
        return self.client.submit(function, *args, **pinned, actor=actor, **named)

    def is_done(self, future: Any, within_s: float) -> bool:
        """Whether the future has a result or an error within this time.

        Does not call `result` with a timeout: Dask gathers all futures' results together, and a
        timeout during a gather loses the results of the others.
        """
        with suppress(TimeoutError):
            if isinstance(future, Future):
                with self.client.as_current():
                    wait([future], timeout=within_s)
            else:
                future.result(timeout=within_s)  # an actor's future gathers nothing
        return bool(future.done())

    def close(self) -> None:
        """Ends everything on the hosts, then the client.

        Ignores Dask's errors while it shuts down, as the race has all its results by now. A
        cancelled task inside Dask may even appear as an UnboundLocalError from its `sync`.
        """
        for host in self.hosts:
            host.close()
        with suppress(Exception):
            self.client.close(timeout=CLOSE_S)


class WorkerProcess:
    """The process that becomes a race's worker, or leads to it. Its input is a task, then a
    heartbeat each second; its output is one line of JSON (worker.py)."""

    def __init__(self, command: Sequence[str], task: WorkerTask) -> None:
        self.process = with_input(command, subprocess.PIPE, subprocess.PIPE)
        self.write(json.dumps(asdict(task)).encode() + b"\n")

    def write(self, data: bytes) -> None:
        assert self.process.stdin
        with suppress(OSError, ValueError):
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def send_heartbeats(self) -> None:
        """Until the process ends."""
        while self.process.poll() is None:
            self.write(b".")
            time.sleep(BEAT_S)

    def home(self) -> str:
        """The line that it prints once it is connected; PlacementError if it prints none."""
        assert self.process.stdout
        assert self.process.stderr
        if not readable(self.process.stdout.fileno(), time.monotonic() + START_TIMEOUT_S):
            raise PlacementError(f"its worker did not start within {START_TIMEOUT_S} s")
        if line := self.process.stdout.readline():
            return line.decode(errors="replace").strip()
        self.process.kill()
        raise PlacementError(last_line(self.process.stderr.read().decode(errors="replace")))

    def leave(self) -> None:
        """Closes its input, which ends the worker and then the process."""
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            with suppress(OSError):
                pipe.close()
        try:
            self.process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Host(ABC):
    """Close it to end everything that runs there."""

    root = Path()
    """The folder for the files of trials."""
    address = ""
    """Its address as the lab reached it; empty if unknown."""
    worker = ""
    """The address of the worker that the race has there."""
    is_closed = False

    def __init__(self, name: str, engine: TaskEngine) -> None:
        """`name`: in reports and reasons."""
        self.name = name
        self.engine = engine
        self.start()
        engine.hosts.append(self)

    def __str__(self) -> str:
        return self.name

    @abstractmethod
    def start(self) -> None:
        """Starts the worker. PlacementError with the reason if it does not start."""

    @abstractmethod
    def stop(self) -> None:
        """Ends the worker and everything that it has started."""

    @property
    @abstractmethod
    def is_gone(self) -> bool:
        """Whether its worker, or the connection to it, has ended."""

    @property
    def is_lost(self) -> bool:
        """Whether it takes no calls."""
        return self.is_closed or self.is_gone

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self.stop()

    def ask(self, question: Callable[..., T], *args: Any, **named: Any) -> T:
        """Calls a function there and returns its result."""
        answer: T = self.answer(
            lambda: self.engine.submit(self.worker, question, *args, actor=False, **named)
        )
        return answer

    def make(self, kind: Callable[..., Any], *args: Any, **named: Any) -> RemoteObject:
        """Creates an object there."""
        return RemoteObject(
            self,
            self.answer(lambda: self.engine.submit(self.worker, kind, *args, actor=True, **named)),
        )

    def answer(self, begin: Callable[[], Any], others: Sequence[Host] = ()) -> Any:
        """Waits for the result; HostLostError if this host or one of the others is lost before."""
        if self.is_lost:
            raise self.lost()
        try:
            future = begin()
            while not self.engine.is_done(future, POLL_S):
                for host in others:
                    # One that was closed here is not lost by its own fault.
                    if not host.is_closed and host.is_gone:
                        raise host.lost()
                if self.is_lost:
                    raise self.lost()
            return future.result(timeout=FETCH_S)
        except HostLostError:
            raise
        except RegattaError as error:
            raise type(error)(f"on {self}: {error}") from error
        except Exception as error:
            # The tunnelled connections break a moment before ssh exits.
            if is_disconnect(error):
                self.close()
                raise self.lost() from error
            if isinstance(error, OSError):
                raise RegattaError(f"on {self}: {error}") from error
            raise

    def lost(self) -> HostLostError:
        return HostLostError(f"the host {self} was lost: its worker or the connection to it ended")


def is_disconnect(error: Exception) -> bool:
    """Whether Dask lost the worker, which it reports by many exceptions."""
    names = {kind.__name__ for kind in type(error).__mro__}
    cut = {"CommClosedError", "KilledWorker", "CancelledError", "FutureCancelledError"}
    return bool(names & cut) or "Actor" in str(error)


class RemoteObject(AbstractContextManager["RemoteObject"]):
    """A proxy for an object on another host: every method call is made there."""

    def __init__(self, host: Host, actor: Any) -> None:
        self.host = host
        self.actor = actor

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            return self.host.answer(lambda: getattr(self.actor, name)(*args, **named))

        return call

    def run(self, timeout_s: float, at_ns: int | None = None) -> Any:
        """Runs a client's load; also watches the other hosts meanwhile.

        The client's worker is blocked until the load is over, so it can only be interrupted by
        closing the host.
        """
        hosts = self.host.engine.hosts
        try:
            return self.host.answer(lambda: self.actor.run(timeout_s, at_ns), hosts)
        except BaseException as error:
            if isinstance(error, HostLostError) or not isinstance(error, RegattaError):
                self.host.close()
            raise

    def failure(self, what: str) -> TrialError:
        """Names the host, as `answer` does for an error that is raised there."""
        return TrialError(f"on {self.host}: {self.host.answer(lambda: self.actor.failure(what))}")

    def give_up(self) -> None:
        """Closes the host, as its worker is blocked and takes no calls."""
        self.host.close()

    def __exit__(self, *_: object) -> None:
        with suppress(HostLostError):
            self.leave()
