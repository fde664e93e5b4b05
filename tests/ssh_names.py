"""An ssh that knows some hosts by name and logs in to them without a prompt."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

CONF = """
Host *
IdentityFile {key}
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
"""


def make_ssh(folder: Path, key: Path, hosts: Mapping[str, str]) -> None:
    """Writes it into the folder. `hosts`: by name, ADDRESS or ADDRESS:PORT."""
    known = []
    for name, place in hosts.items():
        address, _, port = place.partition(":")
        known.append(f"Host {name}\nHostName {address}\n" + (f"Port {port}\n" if port else ""))
    (folder / "ssh.conf").write_text("".join(known) + CONF.format(key=key))
    ssh = folder / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh.conf "$@"\n')
    ssh.chmod(0o755)


def path_with(folder: Path) -> str:
    """PATH with this ssh first."""
    return f"{folder}:{os.environ['PATH']}"
