"""The kernel and the disk of a Debian virtual machine for tests.

Kept in build-guests/: the root that debootstrap makes until the packages change, the disk until the
lock file or this file change.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from tests.commands import run_well
from tests.e2e.racing import ROOT

NEEDED = {
    "qemu-system-x86_64": "qemu-system-x86",
    "debootstrap": "debootstrap",
    "mke2fs": "e2fsprogs",
    "ssh": "openssh-client",
}
"""Programs and their Debian packages."""
TOOLS = f"{os.environ['PATH']}:/usr/local/sbin:/usr/sbin:/sbin"
missing = [package for program, package in NEEDED.items() if not shutil.which(program, path=TOOLS)]
needs_virtual_machines = pytest.mark.skipif(
    os.geteuid() != 0 or bool(missing),
    reason="virtual machines need root and their packages: sudo scripts/setup guests",
)
PACKAGES = (
    *("linux-image-cloud-amd64", "initramfs-tools", "zstd", "systemd-sysv", "udev"),
    *("openssh-server", "iproute2", "linux-perf", "python3"),
)
MODULES = "virtio_pci\nvirtio_blk\next4\n"
"""What the kernel needs to mount the disk; the RAM disk holds nothing else."""
FOLDER = "/srv/regatta"
"""Regatta on the guests, on a disk of its own."""
PYTHON = "/srv/python"
"""The virtual environment with the packages of the lock file."""
NETWORK = "10.77.0"
LAB_MAC, PAIR_MAC = "52:54:00:00:00:{:02x}", "52:54:00:00:01:{:02x}"
GUESTS = 2
CACHE = ROOT / "build-guests"
LIFE_S = 3600.0
"""Debootstrap takes minutes, more on a busy machine."""


@dataclass(frozen=True)
class Image:
    """Files in a folder."""

    folder: Path

    @property
    def disk(self) -> Path:
        return self.folder / "root.ext4"

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinuz"

    @property
    def initrd(self) -> Path:
        return self.folder / "initrd.img"

    @property
    def key(self) -> Path:
        """Lets the lab log in as root."""
        return self.folder / "key"


def tool(*command: object) -> str:
    return run_well(*command, env={**os.environ, "PATH": TOOLS, "LC_ALL": "C"}, timeout=LIFE_S)


def key(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:16]


def find_image() -> Image:
    """Makes the image if there is none yet."""
    bare = CACHE / f"root-{key(*PACKAGES)}.tar"
    parts = (bare.name, (ROOT / "uv.lock").read_text(), Path(__file__).read_text())
    image = Image(CACHE / f"image-{key(*parts)}")
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        root, partial = Path(name) / "root", Image(Path(name) / "image")
        if not bare.exists():
            remove(CACHE.glob("root-*.tar"))
            tool(ROOT / "scripts" / "debian-root", root, *PACKAGES)
            tool("tar", "-C", root, "-cf", f"{bare}.part", ".")
            Path(f"{bare}.part").rename(bare)
            shutil.rmtree(root)
        if not image.folder.exists():
            remove(CACHE.glob("image-*"))
            root.mkdir()
            tool("tar", "-C", root, "-xf", bare)
            partial.folder.mkdir()
            make_image(root, partial)
            partial.folder.rename(image.folder)
    return image


def remove(paths: Iterable[Path]) -> None:
    for path in paths:
        tool("rm", "-rf", path)


def make_image(root: Path, image: Image) -> None:
    tool("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", image.key)
    configure(root, image.key.with_suffix(".pub").read_text())
    tool("chroot", root, "update-initramfs", "-u")
    (kernel,) = (root / "boot").glob("vmlinuz-*")
    (initrd,) = (root / "boot").glob("initrd.img-*")
    shutil.copyfile(kernel, image.kernel)
    shutil.copyfile(initrd, image.initrd)
    tool("cp", "-a", (ROOT / ".venv").resolve(), f"{root}{PYTHON}")
    make_disk(root, image.disk, "4g")


def configure(root: Path, public_key: str) -> None:
    lab_cards = " ".join(LAB_MAC.format(number) for number in range(GUESTS))
    files = {
        "etc/initramfs-tools/modules": MODULES,
        "etc/initramfs-tools/conf.d/list": "MODULES=list\n",
        "etc/fstab": f"/dev/vda / ext4 rw 0 0\n/dev/vdb {FOLDER} ext4 ro 0 0\n",
        "etc/systemd/network/lab.network": network_file(lab_cards, "DHCP=ipv4"),
        "root/.ssh/authorized_keys": public_key,
    }
    for number in range(GUESTS):
        address = f"Address={NETWORK}.{number + 1}/24"
        one = PAIR_MAC.format(number)
        files[f"etc/systemd/network/pair-{number}.network"] = network_file(one, address)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text)
    (root / FOLDER.lstrip("/")).mkdir()
    tool("chroot", root, "systemctl", "enable", "systemd-networkd", "ssh")
    # Compiling Python's modules at each start takes minutes in emulation.
    tool("chroot", root, "python3", "-m", "compileall", "-q", "/usr/lib/python3.11")


def network_file(macs: str, addressing: str) -> str:
    return f"[Match]\nMACAddress={macs}\n[Network]\n{addressing}\nLinkLocalAddressing=no\n"


def make_disk(content: Path, disk: Path, size: str) -> None:
    """An ext4 file system in a sparse file."""
    tool("mke2fs", "-q", "-t", "ext4", "-d", content, disk, size)


def clone_disk(folder: Path) -> Path:
    """A disk with the Python package and the programs of this clone, as `make build` left them."""
    content = folder / "clone"
    for part in ("bin", "regatta", "studies"):
        shutil.copytree(ROOT / part, content / part)
    (content / ".venv").symlink_to(PYTHON)
    subprocess.run(["chown", "-R", "0:0", content], check=True)
    disk = folder / "clone.ext4"
    make_disk(content, disk, "128m")
    shutil.rmtree(content)
    return disk
