"""A host that is reached by ssh.

A single ssh process starts the worker, gives it its task, and tunnels connections both ways. When
ssh ends for any reason, the host is lost, and the worker ends everything that it has started.
"""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from regatta.errors import PlacementError
from regatta.measure.network.veth import last_line
from regatta.measure.places.hosts.clusters import LOOPBACK, DaskCluster
from regatta.measure.places.hosts.host import BEAT_S, NOT_STARTED, START_TIMEOUT_S, Host
from regatta.measure.places.side import readable
from regatta.measure.processes import guard_environment, guarded
from regatta.measure.programs import need_tool
from regatta.record.study.hosts import HostName

CLONE = Path(__file__).resolve().parents[4]
PORTS = range(20_000, 32_000)
CONNECT_S = 10
START_TRIES = 3
TAKEN = ("forwarding", "in use")
"""Parts of the messages of ssh and the worker about a port in use."""
END_TIMEOUT_S = 5
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
        self.ssh: subprocess.Popen[bytes] | None = None
        super().__init__(engine, all_hosts)

    def __str__(self) -> str:
        return self.name.host + (f":{self.name.port}" if self.name.port else "")

    def start(self) -> None:
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
        """Returns None on success, else the reason of the failure."""
        ours, there, back = random.sample(PORTS, 3)
        self.worker = f"tls://{LOOPBACK}:{ours}"
        tunnels = (
            *("-L", f"{LOOPBACK}:{ours}:{LOOPBACK}:{there}"),
            *("-R", f"{LOOPBACK}:{back}:{LOOPBACK}:{self.cluster.port}"),
        )
        ssh = need_tool("ssh", "openssh-client")
        return self.open_worker(
            [ssh, *OPTIONS, *tunnels, *self.name.ssh_words(), "--", self.command()],
            there,
            back,
        )

    def open_worker(self, command: Sequence[str], port: int, scheduler_port: int) -> str | None:
        """Starts it with its task: its port, and that of the scheduler on its host."""
        self.ssh = subprocess.Popen(
            guarded(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=guard_environment(),
            start_new_session=True,
        )
        task = {
            "scheduler": f"tls://{LOOPBACK}:{scheduler_port}",
            "port": port,
            "contact": self.worker,
            "tls": self.cluster.tls(),
        }
        assert self.ssh.stdin
        assert self.ssh.stdout
        assert self.ssh.stderr
        with suppress(BrokenPipeError):
            self.ssh.stdin.write(json.dumps(task).encode() + b"\n")
            self.ssh.stdin.flush()
        threading.Thread(target=send_heartbeats, args=(self.ssh,), daemon=True).start()
        if not readable(self.ssh.stdout.fileno(), time.monotonic() + START_TIMEOUT_S):
            return NOT_STARTED
        if not (line := self.ssh.stdout.readline()):
            self.ssh.kill()
            return last_line(self.ssh.stderr.read().decode(errors="replace"))
        try:
            said = json.loads(line)
        except ValueError:
            said = line.decode(errors="replace").strip()
            return f"its shell prints text when ssh logs in; remove that from its profile: {said}"
        self.root, self.address = Path(said["root"]), said["address"]
        return None

    def command(self) -> str:
        """Starts the worker in the folder that the study names, or in the same folder as here."""
        folder = self.name.folder
        python = sys.executable if folder is None else f"{folder}/.venv/bin/python"
        module = "regatta.measure.places.hosts.worker"
        return f"cd {shlex.quote(folder or str(CLONE))} && exec {shlex.quote(python)} -m {module}"

    def close(self) -> None:
        """Closes the worker's input, which ends the worker and then ssh."""
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
        return self.ssh is None or self.has_exited

    @property
    def has_exited(self) -> bool:
        return self.ssh is not None and self.ssh.poll() is not None


def send_heartbeats(ssh: subprocess.Popen[bytes]) -> None:
    """Tells the worker every second that the lab is alive."""
    assert ssh.stdin
    with suppress(OSError, ValueError):
        while ssh.poll() is None:
            ssh.stdin.write(b".")
            ssh.stdin.flush()
            time.sleep(BEAT_S)
