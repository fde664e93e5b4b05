"""What runs on another host: a Dask worker that is nothing but the home of one side.

The lab starts it by ssh. Its input begins with a line of JSON, what it is to do, and goes on with
a byte each second. When these no longer come, the lab, its tunnel or the network is gone: all that
was started here is ended, whoever still waits for it.
"""

import asyncio
import json
import logging
import os
import select
import shutil
import signal
import sys
import tempfile
import threading
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dask import config
from distributed import Security, Worker

from regatta.machine.accounting import descendants
from regatta.machine.cgroup import lock_group

PREFIX = "regatta-host-"
PATIENCE_S = 4.0
"""Without a word of the lab's."""
KEPT = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER")
"""Of the environment: what is measured shall not depend on how somebody logs in."""
SERVER_ADDRESS_FIELD = 2  # of SSH_CONNECTION
QUIET: dict[str, Any] = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.http.routes": [],
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.admin.tick.interval": "10s",
    "distributed.admin.tick.limit": "60s",
    "distributed.admin.system-monitor.interval": "60s",
}
"""An engine looks after itself many times a second; here that would be in what is measured."""


@dataclass(frozen=True)
class Task:
    """What the lab writes first."""

    scheduler: str
    """Its address at this end of the tunnel."""
    port: int
    """Of this worker, for the other end."""
    contact: str
    """That other end, as the lab calls it."""
    tls: dict[str, str]


@dataclass(frozen=True)
class Home:
    """What the worker answers once it has joined."""

    root: str
    """For the files of trials."""
    address: str
    """At which the lab reached this host; empty if nobody told."""


def end(worker: Worker, root: Path) -> None:
    """Ends all that runs here, and this process last."""
    for actor in list(worker.state.actors.values()):
        with suppress(Exception):
            actor.leave()
    for pid in descendants(os.getpid())[1:]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(root, ignore_errors=True)
    os._exit(0)


def watch(worker: Worker, root: Path) -> None:
    poll = select.poll()
    poll.register(0, select.POLLIN)
    while poll.poll(PATIENCE_S * 1000) and os.read(0, 4096):
        pass
    end(worker, root)


def make_root() -> tuple[Path, ExitStack]:
    """A folder, locked as long as this process lives; those that nobody holds any more go."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if (left := lock_group(path)) is not None:
                with left:
                    shutil.rmtree(path, ignore_errors=True)
    while True:
        root = Path(tempfile.mkdtemp(prefix=PREFIX))
        if (lock := lock_group(root)) is not None:
            return root, lock


async def serve(task: Task, address: str, root: Path) -> None:
    security = Security(require_encryption=True, **task.tls)
    async with Worker(
        task.scheduler,
        host="127.0.0.1",
        port=task.port,
        contact_address=task.contact,
        name=task.contact,
        nthreads=1,
        memory_limit=None,
        dashboard=False,
        local_directory=str(root),
        security=security,
    ) as worker:
        threading.Thread(target=watch, args=(worker, root), daemon=True).start()
        print(json.dumps(asdict(Home(str(root), address))), flush=True)
        await worker.finished()
        end(worker, root)


def main() -> None:
    task = Task(**json.loads(open(0, "rb", buffering=0, closefd=False).readline()))  # noqa: SIM115, PTH123
    address = (os.environ.get("SSH_CONNECTION", "").split() + [""] * 3)[SERVER_ADDRESS_FIELD]
    for name in [name for name in os.environ if name not in KEPT]:
        del os.environ[name]
    logging.disable(logging.CRITICAL)  # the lab tells what is wrong, in its own words
    config.set(QUIET)
    root, lock = make_root()
    try:
        asyncio.run(serve(task, address, root))
    except OSError as error:
        print(f"the tunnel does not work: {error}", file=sys.stderr)
    finally:
        with lock:
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
