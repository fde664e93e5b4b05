"""The program on another host: a Dask worker that hosts one side.

The lab starts it by ssh, or through a worker of the user's cluster. Its input is one line of JSON,
its task, and then a heartbeat byte each second. Its output is one line of JSON, once it is
connected. When the heartbeat stops, the lab, its tunnel or the network is gone: the worker then
ends everything that it has started, and itself.
"""

import asyncio
import json
import logging
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dask import config
from distributed import Security, Worker

from regatta.measure.accounts.cgroup import lock_group
from regatta.measure.accounts.process_tree import descendants

PREFIX = "regatta-host-"
CONNECT_S = 50
TLS_NAMES = ("tls_ca_file", "tls_worker_key", "tls_worker_cert")
KEPT = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER")
"""Environment variables that are kept: measurements must not depend on login settings."""
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
"""Turns off Dask's periodic work, which would be in the measurements."""


@dataclass(frozen=True)
class WorkerTask:
    """The first line of the input."""

    scheduler: str
    """The scheduler's address as seen from this host."""
    tls: dict[str, str]
    """The certificates; empty in a cluster that uses none."""
    host: str = "127.0.0.1"
    """The address that this worker listens on."""
    port: int = 0
    """0: any."""
    contact: str | None = None
    """This worker's address at the lab's end of a tunnel."""
    patience_s: float = 4.0
    """Without a heartbeat; then it ends."""


def end(worker: Worker, root: Path) -> None:
    """Ends everything that was started here, and then this process."""
    for actor in list(worker.state.actors.values()):
        with suppress(Exception):
            actor.leave()
    for pid in descendants(os.getpid())[1:]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(root, ignore_errors=True)
    os._exit(0)


def watch(worker: Worker, root: Path, patience_s: float) -> None:
    poll = select.poll()
    poll.register(0, select.POLLIN)
    while poll.poll(patience_s * 1000) and os.read(0, 4096):
        pass
    end(worker, root)


def make_root() -> tuple[Path, ExitStack]:
    """A folder that stays locked until this process ends; removes unlocked folders of others."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if (left := lock_group(path)) is not None:
                with left:
                    shutil.rmtree(path, ignore_errors=True)
    while True:
        root = Path(tempfile.mkdtemp(prefix=PREFIX))
        if (lock := lock_group(root)) is not None:
            return root, lock


async def serve(task: WorkerTask, address: str, root: Path) -> None:
    security = Security(require_encryption=bool(task.tls), **task.tls)
    async with Worker(
        task.scheduler,
        host=task.host,
        port=task.port,
        contact_address=task.contact,
        name=f"{root.name}-{socket.gethostname()}",
        death_timeout=CONNECT_S,
        nthreads=1,
        memory_limit=None,
        dashboard=False,
        local_directory=str(root),
        security=security,
    ) as worker:
        threading.Thread(target=watch, args=(worker, root, task.patience_s), daemon=True).start()
        # Its address as the scheduler sees it, and the host's as the lab reached it.
        home = {"worker": task.contact or worker.address, "address": address, "root": str(root)}
        print(json.dumps(home), flush=True)
        await worker.finished()
        end(worker, root)


def main() -> None:
    task = WorkerTask(**json.loads(open(0, "rb", buffering=0, closefd=False).readline()))  # noqa: SIM115, PTH123
    address = (os.environ.get("SSH_CONNECTION", "").split() + [""] * 3)[SERVER_ADDRESS_FIELD]
    for name in [name for name in os.environ if name not in KEPT]:
        del os.environ[name]
    logging.disable(logging.CRITICAL)  # the lab reports errors itself
    config.set(QUIET)
    root, lock = make_root()
    try:
        asyncio.run(serve(task, address, root))
    except OSError as error:
        print(f"the scheduler cannot be reached: {error}", file=sys.stderr)
    finally:
        with lock:
            shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
