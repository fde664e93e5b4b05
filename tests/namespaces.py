"""Hosts without a second machine: namespaces joined by a bridge, each with a real sshd.

Each has a network, mounts, a name and processes of its own, and its own idea of the time where the
kernel can have that; the files are everybody's. The lab is in a network of its own too: with the
last process all of it goes.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from regatta.errors import PlacementError
from regatta.machine.cable import run_tool, start_holder
from tests.processes import children, commands, inside, network_namespaces
from tests.waiting import wait_until

SSHD = Path("/usr/sbin/sshd")
NETWORK = "10.88.7"
MAC = "02:00:00:00:00:0"
"""A host that comes back has the card that it had."""
AWAY_S = 5000
"""By which one host's clock differs from another's."""
needs_hosts = pytest.mark.skipif(
    os.geteuid() != 0 or not SSHD.exists() or shutil.which("ssh") is None,
    reason="hosts of namespaces need root, ssh and sshd (make setup)",
)
START = """
hostname "$1"
ip link set lo up
mount -t tmpfs tmpfs /run
mkdir /run/sshd
echo up
read -r go
exec /usr/sbin/sshd -D -E "$2/$1.log" -f "$2/$1.conf"
"""
SSHD_CONF = """
ListenAddress {address}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
"""
SSH_CONF = """
Host *
IdentityFile {folder}/key
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
"""


@dataclass
class Network:
    """The lab's network, and its hosts."""

    folder: Path
    lab: subprocess.Popen[bytes]
    hosts: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    @property
    def enter(self) -> list[str]:
        """What runs a command as the lab does."""
        return ["nsenter", "--net", "--target", str(self.lab.pid), "--"]

    def ip(self, words: str, within: Sequence[str] | None = None) -> None:
        run_tool([*(self.enter if within is None else within), "ip", *words.split()])

    def path(self) -> str:
        """With an ssh that knows the hosts."""
        return f"{self.folder}:{os.environ['PATH']}"

    def add(self, name: str) -> None:
        """A host of this name, or the same once more."""
        number = self.numbers.setdefault(name, len(self.numbers) + 2)
        address = f"{NETWORK}.{number}"
        (self.folder / f"{name}.conf").write_text(
            SSHD_CONF.format(address=address, folder=self.folder)
        )
        log = self.folder / f"{name}.log"
        log.unlink(missing_ok=True)
        clock = ["--time", "--monotonic", str(AWAY_S * number)] if has_clocks() else []
        own = ["--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
        host = subprocess.Popen(
            ["unshare", *own, *clock, "--", "/bin/sh", "-ec", START, "sh", name, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.hosts[name] = host
        assert host.stdout
        assert host.stdin
        assert host.stdout.readline() == b"up\n"
        within = ["nsenter", "--net", "--target", str(host.pid), "--"]
        with suppress(PlacementError):
            self.ip(f"link delete to-{name}")  # of the same host before
        far = f"peer name eth0 address {MAC}{number} netns {host.pid}"
        self.ip(f"link add to-{name} type veth {far}")
        self.ip(f"link set to-{name} master br0 up")
        self.ip(f"address add {address}/24 dev eth0", within)
        self.ip("link set eth0 up", within)
        host.stdin.write(b"go\n")
        host.stdin.flush()
        wait_until(lambda: log.exists() and "listening" in log.read_text(), "sshd is not up")

    def kill(self, name: str) -> None:
        """As if its power went: its first process, and with it all others."""
        host = self.hosts[name]
        for init in children(host.pid):
            os.kill(init, signal.SIGKILL)
        host.communicate()

    def running(self, name: str) -> list[str]:
        """The commands of what runs on a host, but for its sshd."""
        found = commands(inside(network_namespaces([self.hosts[name].pid])))
        return [command for command in found if command and "sshd" not in command]

    def close(self) -> None:
        for host in self.hosts.values():
            host.kill()
            host.communicate()
        self.lab.kill()
        self.lab.communicate()


def has_clocks() -> bool:
    return Path("/proc/self/ns/time").exists()


@contextmanager
def network(folder: Path, *names: str) -> Iterator[Network]:
    folder.mkdir()
    for key in ("key", "host_key"):
        run_tool(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)])
    known = [f"Host {name}\nHostName {NETWORK}.{2 + at}\n" for at, name in enumerate(names)]
    (folder / "ssh.conf").write_text("".join(known) + SSH_CONF.format(folder=folder))
    ssh = folder / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh.conf "$@"\n')
    ssh.chmod(0o755)
    made = Network(folder, start_holder(["unshare", "--net", "--"]))
    try:
        made.ip("link set lo up")
        made.ip("link add br0 type bridge")
        made.ip(f"address add {NETWORK}.1/24 dev br0")
        made.ip("link set br0 up")
        for name in names:
            made.add(name)
        yield made
    finally:
        made.close()
