"""A host that is reached by ssh, with a worker of the race's own Dask cluster.

A single ssh process starts the worker, gives it its task, and tunnels connections both ways. When
ssh ends for any reason, the host is lost, and the worker ends everything that it has started.
"""

from __future__ import annotations

import json
import logging
import random
import shlex
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from dask import config
from distributed import Client, LocalCluster, Security

from regatta.errors import PlacementError
from regatta.measure.places.hosts.host import CLOSE_S, Host, TaskEngine, WorkerProcess
from regatta.measure.places.hosts.worker import TLS_NAMES, WorkerTask
from regatta.measure.processes import guarded
from regatta.measure.programs import need_tool
from regatta.record.study.placement import HostName, host_name

CLONE = Path(__file__).resolve().parents[4]
LOOPBACK = "127.0.0.1"
CONFIG: dict[str, Any] = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.http.routes": [],
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "60s",
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.worker.profile.enabled": False,
}
PORTS = range(20_000, 32_000)
CONNECT_S = 10
START_TRIES = 3
TAKEN = ("forwarding", "in use")
"""Parts of the messages of ssh and the worker about a port in use."""
# A broken network is noticed here as soon as by the worker.
OPTIONS = (
    *("-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes", "-o", f"ConnectTimeout={CONNECT_S}"),
    *("-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=4", "-o", "ControlPath=none"),
    *("-o", "ForwardAgent=no", "-o", "ForwardX11=no"),
)


class DaskCluster(TaskEngine):
    """A race's own scheduler, in the lab's process. It listens only on loopback, and every
    connection needs a certificate that was made for this race and leaves the lab only by ssh."""

    def __init__(self) -> None:
        super().__init__()
        config.set(CONFIG)
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self.security = Security.temporary()
        with warnings.catch_warnings(action="ignore"):  # about a port that another race uses
            self.cluster = LocalCluster(
                n_workers=0,
                host=LOOPBACK,
                protocol="tls://",
                security=self.security,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        self.client = Client(self.cluster, security=self.security)

    def reach(self, name: str) -> Host:
        return SshHost(host_name(name), self)

    @property
    def port(self) -> int:
        return int(self.cluster.scheduler_address.rpartition(":")[2])

    def close(self) -> None:
        super().close()
        with suppress(Exception):
            self.cluster.close(timeout=CLOSE_S)


class SshHost(Host):
    """Named as ssh is told to reach it."""

    engine: DaskCluster
    ssh: WorkerProcess | None = None

    def __init__(self, where: HostName, engine: DaskCluster) -> None:
        self.where = where
        super().__init__(where.host + (f":{where.port}" if where.port else ""), engine)

    def start(self) -> None:
        for tries_left in reversed(range(START_TRIES)):
            try:
                self.try_start()
                return
            except BaseException as error:
                self.stop()
                if not isinstance(error, PlacementError):
                    raise
                if not tries_left or not any(word in str(error) for word in TAKEN):
                    raise PlacementError(f"{self}: {error}") from error

    def try_start(self) -> None:
        """PlacementError with the reason if it fails."""
        ours, there, back = random.sample(PORTS, 3)
        self.worker = f"tls://{LOOPBACK}:{ours}"
        tunnels = (
            *("-L", f"{LOOPBACK}:{ours}:{LOOPBACK}:{there}"),
            *("-R", f"{LOOPBACK}:{back}:{LOOPBACK}:{self.engine.port}"),
        )
        ssh = need_tool("ssh", "openssh-client")
        words = [ssh, *OPTIONS, *tunnels, *self.where.ssh_words(), "--", self.command()]
        task = WorkerTask(
            scheduler=f"tls://{LOOPBACK}:{back}",
            tls={name: getattr(self.engine.security, name) for name in TLS_NAMES},
            port=there,
            contact=self.worker,
        )
        self.ssh = WorkerProcess(guarded(words), task)
        threading.Thread(target=self.ssh.send_heartbeats, daemon=True).start()
        line = self.ssh.home()
        try:
            home = json.loads(line)
        except ValueError as error:
            raise PlacementError(
                f"its shell prints text when ssh logs in; remove that from its profile: {line}"
            ) from error
        self.root, self.address = Path(home["root"]), home["address"]

    def command(self) -> str:
        """Starts the worker in the folder that the study names, or in the same folder as here."""
        folder = self.where.folder
        python = sys.executable if folder is None else f"{folder}/.venv/bin/python"
        module = "regatta.measure.places.hosts.worker"
        return f"cd {shlex.quote(folder or str(CLONE))} && exec {shlex.quote(python)} -m {module}"

    def stop(self) -> None:
        if self.ssh is not None:
            self.ssh.leave()

    @property
    def is_gone(self) -> bool:
        return self.ssh is None or self.ssh.process.poll() is not None
