"""Why a server cannot be raced, and what to do: a table from what is seen of it to advice."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

GREETING_S = 0.3
"""Within which a server greets that speaks first."""
PATIENCE_S = 1.0
SHOWN = 40
"""Bytes of a greeting."""
H2_SETTINGS = 4
"""The kind of an HTTP/2 frame (RFC 9113, 6.5)."""
H2_FRAME = 9
"""Bytes of its head: length, kind, flags, stream."""
H2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"
"""With settings that say nothing (RFC 9113, 3.4)."""

NAME_A_PATH = "name a path that it serves with --path"
EXPECT_IT = 'or expect it: --request FILE with {"path": "/", "status": N}'
CAUSES = (
    (
        r"EADDRINUSE|[Aa]ddress already in use|Address in use",
        "let it listen on {port} alone, or stop the program that has its other port",
    ),
    (
        r"before it was (ready|stopped)",
        "it must stay in the foreground and listen on {port}",
    ),
    (r"was not ready", "if it needs longer, say so with --ready-timeout 60s"),
    (r"does not end with \\r\\n", r"the standard asks for \r\n (RFC 9112, 2.2)"),
    (
        r"is not NAME: VALUE",
        "a header that goes on in the next line is obsolete (RFC 9112, 5.2): write it in one line",
    ),
    (r"Content-Length is not one number", "send it once (RFC 9112, 6.3)"),
    (r"both a Content-Length and", "send only one of them (RFC 9112, 6.2)"),
    (
        r"read: (bytes follow|.*as long as Content-Length)",
        "make its Content-Length that of the body",
    ),
    (r"answers 3\d\d ", f"a redirect: name the path that it leads to with --path, {EXPECT_IT}"),
    (r"answers 40[137] ", "put what it asks for into the headers of --request FILE"),
    (r"answers \d\d\d ", f"{NAME_A_PATH}, {EXPECT_IT}"),
)
"""A pattern of what was seen, and what to do; the first that matches counts."""


def advised(why: str) -> str:
    """With what most often helps."""
    found = (advice for pattern, advice in CAUSES if re.search(pattern, why))
    return "; ".join((why, *list(found)[:1]))


def other_protocol(target: str) -> str:
    """What it speaks instead of HTTP/1.1, and what to do; empty: nothing known."""
    host, _, port = target.rpartition(":")
    for probe, says in PROTOCOLS:
        with suppress(OSError), socket.create_connection((host.strip("[]"), int(port))) as server:
            server.settimeout(PATIENCE_S)
            if seen := probe(server):
                return says.format(seen=seen)
    return ""


def greeting(server: socket.socket) -> str:
    """What it says before it is asked."""
    server.settimeout(GREETING_S)
    return server.recv(SHOWN).decode(errors="replace").split("\n")[0].strip()


def tls(server: socket.socket) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with context.wrap_socket(server, server_hostname="localhost"):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")  # it refuses us, but in TLS


def http2(server: socket.socket) -> bool:
    server.sendall(H2_PREFACE)
    head = server.recv(H2_FRAME)
    return len(head) == H2_FRAME and head[3] == H2_SETTINGS and not any(head[5:])


PROTOCOLS: tuple[tuple[Callable[[socket.socket], object], str], ...] = (
    (http2, "it speaks HTTP/2 alone, and versus asks in HTTP/1.1; let it serve HTTP/1.1 too"),
    (tls, "it speaks TLS, and versus asks in plain HTTP/1.1; start it without TLS"),
    (
        greeting,
        'it speaks before it is asked ("{seen}"), so it is no HTTP server; ask it in its own '
        "protocol with --raw and --until",
    ),
)
