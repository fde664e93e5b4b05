"""The address of a Dask cluster's scheduler, and what its network permits."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from regatta.errors import UsageError

ENCRYPTED = ("tls", "wss")
SCHEMES = ("tcp", "tls")
NEEDED = "the address of a Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT"


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
