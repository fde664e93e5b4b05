"""Several hosts on one machine: namespaces joined by a bridge, each with a real sshd.

Each host has its own network, mount, UTS and PID namespace, and its own monotonic clock if the
kernel supports time namespaces. Files are shared. The lab has its own network namespace too. All
namespaces disappear with their last process.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from regatta.errors import PlacementError
from regatta.measure.network.veth import run_tool, start_holder
from tests.e2e.racing import environment
from tests.processes import children, commands, network_namespaces, pids_inside
from tests.waiting import wait_until

SSHD = Path("/usr/sbin/sshd")
NETWORK = "10.88.7"
MAC = "02:00:00:00:00:{:02x}"
"""A restarted host gets the same MAC address."""
AWAY_S = 5000
"""Difference between the clocks of two hosts."""
needs_hosts = pytest.mark.skipif(
    os.geteuid() != 0 or not SSHD.exists() or shutil.which("ssh") is None,
    reason="hosts of namespaces need root, ssh and sshd (make setup)",
)
HAS_CLOCKS = Path("/proc/self/ns/time").exists()
needs_clocks = pytest.mark.skipif(not HAS_CLOCKS, reason="this kernel has no time namespaces")
START = """
hostname "$1"
ip link set lo up
mount -t tmpfs tmpfs /run
mkdir /run/sshd
mkdir -p "$2/tmp/$1"
[ -z "$3" ] || mount -t tmpfs -o "size=$3" tmpfs "$2/tmp/$1"
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
SetEnv TMPDIR={folder}/tmp/{name}
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
    """The lab's network and its hosts."""

    folder: Path
    lab: subprocess.Popen[bytes]
    hosts: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    disk: str = ""
    """Size of each host's own file system for temporary files; empty: none, a folder remains."""

    @property
    def enter(self) -> list[str]:
        """Command prefix: run inside the lab's network."""
        return ["nsenter", "--net", "--target", str(self.lab.pid), "--"]

    def ip(self, words: str, within: Sequence[str] | None = None) -> None:
        run_tool([*(self.enter if within is None else within), "ip", *words.split()])

    def within(self, name: str) -> list[str]:
        """Command prefix: run inside a host's network."""
        return ["nsenter", "--net", "--target", str(self.hosts[name].pid), "--"]

    def environment(self) -> dict[str, str]:
        """Of a lab, with an ssh that knows the hosts."""
        return {**environment(), "PATH": f"{self.folder}:{os.environ['PATH']}"}

    def add(self, name: str) -> None:
        """Starts a host, or restarts it with the same name and address."""
        number = self.numbers.setdefault(name, len(self.numbers) + 2)
        address = f"{NETWORK}.{number}"
        (self.folder / f"{name}.conf").write_text(
            SSHD_CONF.format(address=address, folder=self.folder, name=name)
        )
        log = self.folder / f"{name}.log"
        log.unlink(missing_ok=True)
        clock = ["--time", "--monotonic", str(AWAY_S * number)] if HAS_CLOCKS else []
        spaces = ["--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
        given = [name, str(self.folder), self.disk]
        host = subprocess.Popen(
            ["unshare", *spaces, *clock, "--", "/bin/sh", "-ec", START, "sh", *given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.hosts[name] = host
        assert host.stdout.readline() == b"up\n"
        within = self.within(name)
        with suppress(PlacementError):
            self.ip(f"link delete to-{name}")  # left from before a restart
        far = f"peer name eth0 address {MAC.format(number)} netns {host.pid}"
        self.ip(f"link add to-{name} type veth {far}")
        self.ip(f"link set to-{name} master br0 up")
        self.ip(f"address add {address}/24 dev eth0", within)
        self.ip("link set eth0 up", within)
        host.stdin.write(b"go\n")
        host.stdin.flush()
        wait_until(lambda: log.exists() and "listening" in log.read_text(), "sshd is not up")

    def kill(self, name: str) -> None:
        """Simulates a power failure: kills the host's init and with it all its processes."""
        host = self.hosts[name]
        for init in children(host.pid):
            os.kill(init, signal.SIGKILL)
        host.communicate()

    def running(self, name: str) -> list[str]:
        """Command lines of all processes on the host except sshd."""
        found = commands(pids_inside(network_namespaces([self.hosts[name].pid])))
        return [command for command in found if command and "sshd" not in command]

    def tmp(self, name: str) -> Path:
        """The host's folder for temporary files, as the host sees it."""
        return self.folder / "tmp" / name

    def mounts(self, name: str) -> list[str]:
        """Command prefix: run with the file systems of the host."""
        (init,) = children(self.hosts[name].pid)
        return ["nsenter", "--mount", "--pid", "--target", str(init), "--"]

    def files(self, name: str) -> list[str]:
        """What is in the folder for temporary files."""
        return run_tool([*self.mounts(name), "ls", "-A", str(self.tmp(name))]).split()

    def close(self) -> None:
        for host in self.hosts.values():
            host.kill()
            host.communicate()
        self.lab.kill()
        self.lab.communicate()


def make_ssh(folder: Path, addresses: Mapping[str, str]) -> None:
    """Writes into the folder an ssh that knows these hosts and logs in without a prompt."""
    known = "".join(f"Host {name}\nHostName {address}\n" for name, address in addresses.items())
    (folder / "ssh.conf").write_text(known + SSH_CONF.format(folder=folder))
    ssh = folder / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh.conf "$@"\n')
    ssh.chmod(0o755)


@contextmanager
def network(folder: Path, *names: str, disk: str = "") -> Iterator[Network]:
    folder.mkdir()
    for key in ("key", "host_key"):
        run_tool(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)])
    addresses = {name: f"{NETWORK}.{2 + at}" for at, name in enumerate(names)}
    make_ssh(folder, addresses)
    made = Network(folder, start_holder(["unshare", "--net", "--"]), disk=disk)
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
