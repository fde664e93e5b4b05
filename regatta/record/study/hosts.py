"""The hosts of a study: `ssh://[USER@]HOST[:PORT][/FOLDER]`, where FOLDER is the clone of Regatta;
and the address of a Dask cluster's scheduler, and what its network permits.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from regatta.errors import UsageError

SCHEME = "ssh"
SSH_PORT = 22
NEEDED = "ssh://HOST, ssh://USER@HOST:PORT or ssh://HOST/FOLDER"
# Excludes everything that ssh could take for an option, or a shell for more than one word.
WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*|\[?[0-9A-Fa-f:]+\]?")


@dataclass(frozen=True)
class HostName:
    host: str
    user: str | None = None
    port: int | None = None
    folder: str | None = None
    """Of the clone on that host; None: the same path as here."""

    @property
    def place(self) -> tuple[str, int]:
        """Host and port, which identify the machine; several may share a host name."""
        return self.host, self.port or SSH_PORT

    def ssh_words(self) -> list[str]:
        words = [] if self.user is None else ["-l", self.user]
        if self.port is not None:
            words += ["-p", str(self.port)]
        return [*words, self.host]


def host_name(text: str) -> HostName:
    """ValueError for an invalid name."""
    url = urlsplit(text)
    host, user = url.hostname or "", url.username
    words = (host,) if user is None else (host, user)
    plain = not (url.query or url.fragment or url.password)
    if url.scheme != SCHEME or not plain or not all(WORD.fullmatch(word) for word in words):
        raise ValueError(f"{text!r} is not a host")
    return HostName(host, user, url.port, url.path.rstrip("/") or None)


ENCRYPTED = ("tls", "wss")
SCHEMES = ("tcp", "tls")
CLUSTER_NEEDED = "the address of a Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT"


def is_scheduler(text: str) -> bool:
    try:
        url = urlsplit(text)
        named = url.scheme in SCHEMES and bool(url.hostname) and bool(url.port)
    except ValueError:
        return False
    return (
        named and text.isprintable() and not (url.path or url.query or url.fragment or url.username)
    )


def cluster_risk(address: str) -> str | None:
    """What a cluster without encryption permits; None if it is encrypted or on loopback."""
    try:
        url = urlsplit(address if "://" in address else f"tcp://{address}")  # as Dask completes it
    except ValueError as error:
        raise UsageError(f"{address} is not a scheduler; write tls://HOST:PORT") from error
    if url.scheme in ENCRYPTED or is_loopback(url.hostname or ""):
        return None
    return (
        f"{address} is not encrypted: anyone who reaches this port can run programs as the "
        "workers' user; use tls:// or an ssh tunnel"
    )


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
