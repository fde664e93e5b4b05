"""Virtual machines under qemu, in software emulation: each has a kernel and clocks of its own.

A guest has two network cards: one for the lab, behind NAT with a port for ssh on loopback, and one
that joins it to the other guest. Its disk forgets everything when it ends. The kernel kills it when
the test ends for any reason.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from regatta.measure.processes import guard_environment, guarded
from tests.commands import Done, run
from tests.guest_image import LAB_MAC, NETWORK, PAIR_MAC, Image, clone_disk, find_image
from tests.sockets import free_port
from tests.ssh_names import make_ssh, path_with
from tests.waiting import wait_until

BOOT_S = 900.0
"""One to three minutes, more on a busy machine."""
ASK_S = 120.0
LOG_TAIL = 2000


@dataclass
class Guests:
    """Two machines at most, as one cable joins two."""

    folder: Path
    image: Image
    clone: Path
    ports: dict[str, int]
    ahead_s: dict[str, int]
    """How far the clock of a guest is ahead when it starts."""
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def address(self, name: str) -> str:
        """In the network of the guests."""
        return f"{NETWORK}.{self.number(name) + 1}"

    def number(self, name: str) -> int:
        return list(self.ports).index(name)

    def path(self) -> str:
        """PATH with an ssh that knows the guests."""
        return path_with(self.folder)

    def start(self, name: str) -> None:
        """Starts a guest, also after `kill`. `wait_for` says when it is up."""
        with self.log(name).open("wb") as log:
            self.running[name] = subprocess.Popen(
                guarded(self.command(name)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**guard_environment(), "TMPDIR": str(self.folder)},
            )

    def command(self, name: str) -> list[str]:
        number = self.number(name)
        other = 1 - number
        clock = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + self.ahead_s[name]))
        kernel = f"root=/dev/vda rw console=ttyS0 quiet net.ifnames=0 systemd.hostname={name}"
        ssh = f"hostfwd=tcp:127.0.0.1:{self.ports[name]}-:22"
        cable = (
            f"local.type=unix,local.path={self.folder}/cable-{number},"
            f"remote.type=unix,remote.path={self.folder}/cable-{other}"
        )
        return [
            *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "1024"),
            *("-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio"),
            *("-kernel", str(self.image.kernel), "-initrd", str(self.image.initrd)),
            *("-append", kernel, "-rtc", f"base={clock}"),
            *("-drive", f"file={self.image.disk},format=raw,if=virtio,snapshot=on"),
            *("-drive", f"file={self.clone},format=raw,if=virtio,readonly=on"),
            *("-netdev", f"user,id=lab,restrict=on,{ssh}"),
            *("-device", f"virtio-net-pci,netdev=lab,mac={LAB_MAC.format(number)}"),
            *("-netdev", f"dgram,id=pair,{cable}"),
            *("-device", f"virtio-net-pci,netdev=pair,mac={PAIR_MAC.format(number)}"),
            *("-device", "virtio-rng-pci"),
        ]

    def log(self, name: str) -> Path:
        """The guest's console."""
        return self.folder / f"{name}.log"

    def wait_for(self, name: str) -> None:
        """Until ssh logs in."""

        def is_up() -> bool:
            assert self.running[name].poll() is None, self.log(name).read_text(errors="replace")
            return self.run(name, "true").returncode == 0

        wait_until(is_up, lambda: self.log(name).read_text(errors="replace")[-LOG_TAIL:], BOOT_S)

    def run(self, name: str, script: str, timeout: float = ASK_S) -> Done:
        """Runs a shell script on a guest."""
        return run(*self.ssh(name, script), timeout=timeout)

    def begin(self, name: str, script: str) -> subprocess.Popen[bytes]:
        """Starts a shell script on a guest."""
        command = self.ssh(name, script)
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ssh(self, name: str, script: str) -> list[str]:
        options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=20"]
        return [str(self.folder / "ssh"), *options, name, script]

    def kill(self, name: str) -> None:
        """A power failure."""
        self.running[name].kill()
        self.running[name].wait()

    def close(self) -> None:
        for name in self.running:
            self.kill(name)


@contextmanager
def guests(**ahead_s: int) -> Iterator[Guests]:
    """Started guests, which may not be up yet: their names, and how far their clocks are ahead."""
    folder = Path(tempfile.mkdtemp(prefix="rg"))  # short: it holds sockets
    image = find_image()
    ports = {name: free_port() for name in ahead_s}
    made = Guests(folder, image, clone_disk(folder), ports, ahead_s)
    make_ssh(folder, image.key, {name: f"127.0.0.1:{port}" for name, port in made.ports.items()})
    try:
        for name in ahead_s:
            made.start(name)
        yield made
    finally:
        made.close()
        shutil.rmtree(folder)
