"""Programs that find names in a hosts file of the test's own."""

import shutil
from pathlib import Path

import pytest

from tests.commands import run


def within(*namespaces: str) -> list[str]:
    """What puts a command into namespaces of its own; skips the test where that is forbidden."""
    prefix = [shutil.which("unshare") or "unshare", "--user", "--map-root-user", *namespaces]
    if run(*prefix, "true").returncode != 0:
        pytest.skip("namespaces of its own are not permitted here")
    return prefix


def with_hosts(folder: Path, text: str) -> list[str]:
    """What gives a command this /etc/hosts."""
    hosts = folder / "hosts"
    hosts.write_text(text)
    mount = 'mount --bind "$0" /etc/hosts && exec "$@"'
    return [*within("--mount"), "sh", "-c", mount, str(hosts)]
