"""A host that is reached by ssh.

A single ssh process starts the worker, gives it its task, and tunnels connections both ways. When
ssh ends for any reason, the host is lost, and the worker ends everything that it has started.
"""

from __future__ import annotations

import json
import random
import shlex
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from regatta.errors import PlacementError
from regatta.measure.places.hosts.clusters import LOOPBACK, DaskCluster
from regatta.measure.places.hosts.host import BEAT_S, Host, WorkerProcess
from regatta.measure.places.hosts.worker import WorkerTask
from regatta.measure.processes import guarded
from regatta.measure.programs import need_tool
from regatta.record.study.placement import HostName

CLONE = Path(__file__).resolve().parents[4]
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


class SshHost(Host):
    """Its worker belongs to the race's own cluster."""

    def __init__(self, name: HostName, engine: DaskCluster, all_hosts: list[Host]) -> None:
        self.name = name
        self.cluster = engine
        self.ssh: WorkerProcess | None = None
        super().__init__(engine, all_hosts)

    def __str__(self) -> str:
        return self.name.host + (f":{self.name.port}" if self.name.port else "")

    def start(self) -> None:
        for tries_left in reversed(range(START_TRIES)):
            try:
                self.try_start()
                return
            except PlacementError as error:
                self.close()
                if not tries_left or not any(word in str(error) for word in TAKEN):
                    raise PlacementError(f"{self}: {error}") from error

    def try_start(self) -> None:
        """PlacementError with the reason if it fails."""
        ours, there, back = random.sample(PORTS, 3)
        self.worker = f"tls://{LOOPBACK}:{ours}"
        tunnels = (
            *("-L", f"{LOOPBACK}:{ours}:{LOOPBACK}:{there}"),
            *("-R", f"{LOOPBACK}:{back}:{LOOPBACK}:{self.cluster.port}"),
        )
        ssh = need_tool("ssh", "openssh-client")
        words = [ssh, *OPTIONS, *tunnels, *self.name.ssh_words(), "--", self.command()]
        self.open_worker(words, there, back)

    def open_worker(self, command: Sequence[str], port: int, scheduler_port: int) -> None:
        """Starts it with its task: its port, and that of the scheduler on its host."""
        task = WorkerTask(
            scheduler=f"tls://{LOOPBACK}:{scheduler_port}",
            tls=self.cluster.tls(),
            port=port,
            contact=self.worker,
        )
        self.ssh = WorkerProcess(guarded(command), task)
        threading.Thread(target=send_heartbeats, args=(self.ssh,), daemon=True).start()
        line = self.ssh.home()
        try:
            said = json.loads(line)
        except ValueError as error:
            raise PlacementError(
                f"its shell prints text when ssh logs in; remove that from its profile: {line}"
            ) from error
        self.root, self.address = Path(said["root"]), said["address"]

    def command(self) -> str:
        """Starts the worker in the folder that the study names, or in the same folder as here."""
        folder = self.name.folder
        python = sys.executable if folder is None else f"{folder}/.venv/bin/python"
        module = "regatta.measure.places.hosts.worker"
        return f"cd {shlex.quote(folder or str(CLONE))} && exec {shlex.quote(python)} -m {module}"

    def close(self) -> None:
        if self.ssh is not None:
            self.ssh.leave()
            self.ssh = None

    @property
    def is_lost(self) -> bool:
        return self.ssh is None or self.has_exited

    @property
    def has_exited(self) -> bool:
        return self.ssh is not None and self.ssh.process.poll() is not None


def send_heartbeats(ssh: WorkerProcess) -> None:
    """Tells the worker every second that the lab is alive."""
    while ssh.process.poll() is None:
        ssh.write(b".")
        time.sleep(BEAT_S)
