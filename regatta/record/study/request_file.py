"""A file of HTTP requests, one JSON object a line, and its form for the client."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 20
MAX_REQUESTS = 1_000
MAX_WEIGHT = 1_000
MAX_WEIGHTS = 10_000
"""The client's limits (src/client/load/request_file.h)."""
MAX_HEADERS = 100
METHOD = re.compile(r"[A-Z-]{1,32}")
PATH = re.compile(r"/[!-~]{0,8191}|\*")
NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}")
VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]{0,8192}")
ADDED = ("content-length", "transfer-encoding", "connection")
"""Headers that the client adds where they belong."""
KEYS = ("method", "path", "headers", "body", "weight", "status")
DIGEST = 16


class RequestFileError(ValueError):
    """What is wrong with the file, in words that follow its name."""


@dataclass(frozen=True)
class Request:
    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    weight: int = 1
    status: int | None = None
    """Of the reply; None: any success."""

    def line(self) -> str:
        """As the client reads it: its weight and status, and its bytes with escapes."""
        head = [f"{self.method} {self.path} HTTP/1.1"]
        head += [f"{name}: {value}" for name, value in self.headers.items()]
        text = "".join(f"{line}\r\n" for line in (*head, "")) + self.body
        turns = f"{self.weight}" if self.status is None else f"{self.weight}:{self.status}"
        return f"{turns} {''.join(map(escaped, text.encode()))}\n"


@dataclass(frozen=True)
class RequestFile:
    """The requests of a contender."""

    name: str
    """As the study has it."""
    requests: tuple[Request, ...]

    def text(self) -> str:
        """For the client's --requests."""
        return "".join(request.line() for request in self.requests)

    def identity(self) -> str:
        """Its name and a digest of its content: what a ledger records."""
        digest = hashlib.sha256(self.text().encode()).hexdigest()
        return f"{self.name} (sha256 {digest[:DIGEST]})"


def escaped(byte: int) -> str:
    named = {0x5C: "\\\\", 0x0D: "\\r", 0x0A: "\\n", 0x09: "\\t"}.get(byte)
    return named or (chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}")


def read_request_file(path: Path, name: str) -> RequestFile:
    """RequestFileError if it cannot be read or is wrong."""
    try:
        if not path.is_file():
            raise RequestFileError("is not a file" if path.exists() else "does not exist")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise RequestFileError("is larger than 1 MiB")
        lines = content.decode().split("\n")
    except OSError as error:
        raise RequestFileError(f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise RequestFileError("is not UTF-8") from error
    requests = tuple(read_lines(lines))
    if not requests:
        raise RequestFileError('has no request; write one a line: {"path": "/"}')
    if len(requests) > MAX_REQUESTS:
        raise RequestFileError(f"has more than {MAX_REQUESTS:,} requests")
    if sum(request.weight for request in requests) > MAX_WEIGHTS:
        raise RequestFileError(f"has weights that add up to more than {MAX_WEIGHTS:,}")
    return RequestFile(name, requests)


def read_lines(lines: list[str]) -> Iterator[Request]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield read_request(json.loads(line, object_pairs_hook=without_repeats))
        except json.JSONDecodeError as error:
            raise RequestFileError(
                f'has no JSON object in line {number} ({error.msg}); write {{"path": "/"}}'
            ) from error
        except (ValueError, RecursionError) as error:
            raise RequestFileError(f"is wrong in line {number}: {error}") from error


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name.lower() for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise RequestFileError(f"{shown(name)} appears twice")
    return dict(pairs)


def read_request(said: object) -> Request:
    if not isinstance(said, dict):
        raise RequestFileError('a request is an object such as {"path": "/"}')
    for key in said:
        if key not in KEYS:
            raise RequestFileError(f"unknown key {shown(key)}; the keys are {', '.join(KEYS)}")
    if "path" not in said:
        raise RequestFileError('it has no path; add "path": "/"')
    weight, body, status = said.get("weight", 1), said.get("body", ""), said.get("status")
    if type(weight) is not int or not 1 <= weight <= MAX_WEIGHT:
        raise RequestFileError(f"its weight must be a whole number from 1 to {MAX_WEIGHT:,}")
    if "status" in said and (type(status) is not int or not 200 <= status <= 599):
        raise RequestFileError("its status must be a number from 200 to 599")
    if not isinstance(body, str):
        raise RequestFileError('its body must be a string; write JSON as "{\\"a\\": 1}"')
    try:
        body.encode()
    except UnicodeEncodeError as error:
        raise RequestFileError("its body holds half a surrogate pair") from error
    method = matching(said.get("method", "GET"), METHOD, "its method must be in capital letters")
    if method == "CONNECT":
        raise RequestFileError("its method must not be CONNECT")
    return Request(
        path=matching(
            said["path"], PATH, "its path must begin with / and be printable ASCII without blanks"
        ),
        method=method,
        headers=read_headers(said.get("headers", {})),
        body=body,
        weight=weight,
        status=status,
    )


def read_headers(said: object) -> dict[str, str]:
    if not isinstance(said, dict) or len(said) > MAX_HEADERS:
        raise RequestFileError(f"its headers must be an object of at most {MAX_HEADERS}")
    for name, value in said.items():
        matching(name, NAME, f"{shown(name)} is not the name of a header")
        if name.lower() in ADDED:
            raise RequestFileError(f"leave out the header {name}: the client sets it")
        matching(
            value, VALUE, f"the header {name} must be a string without line ends, 8 KiB at most"
        )
        if not value.replace("\t", " ").isprintable():
            raise RequestFileError(f"the header {name} must be printable")
    return said


def matching(value: object, pattern: re.Pattern[str], otherwise: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise RequestFileError(otherwise)
    return value


def shown(name: str) -> str:
    """A name in a message, whatever it holds."""
    return ascii(name[:40])
