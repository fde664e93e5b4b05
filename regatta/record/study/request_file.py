"""A file of HTTP requests, one JSON object a line, and its form for the client."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from regatta.errors import StudyError
from regatta.record.study import keys
from regatta.record.study.keys import Must

MAX_BYTES = 1 << 20
MAX_REQUESTS = 1_000
MAX_HEADERS = 100
MAX_WEIGHTS = 10_000
"""The client's limits (src/client/load/request_file.h), like the largest weight."""
MAX_BODY_BYTES = 256 << 20
ADDED = ("content-length", "connection")
"""Headers that the client adds where they belong."""
CHUNKED = "transfer-encoding"
CHUNK_BYTES = 16 << 10
METHOD = re.compile(r"(?!CONNECT$)[A-Z-]{1,32}")
PATH = re.compile(r"/[!-~]{0,8191}|\*")
NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}")
DIGEST = 16


class RequestFileError(ValueError):
    """What is wrong with the file, in words that follow its name."""


def is_unicode(text: str) -> bool:
    """Without half a surrogate pair."""
    return text.encode(errors="ignore").decode() == text


def is_header(value: str) -> bool:
    return len(value) <= 8192 and value.replace("\t", " ").isprintable()


HeaderName = Annotated[
    str,
    Must(
        f"the name of a header; the client sets {', '.join(ADDED)}",
        lambda name: NAME.fullmatch(name) and name.lower() not in ADDED,
    ),
]
HeaderValue = Annotated[str, Must("printable text without line ends, 8 KiB at most", is_header)]


class Request(keys.TomlTable):
    method: Annotated[str, Must("in capital letters, and not CONNECT", METHOD.fullmatch)] = "GET"
    path: Annotated[str, Must("printable ASCII without blanks, from a / on", PATH.fullmatch)]
    headers: dict[HeaderName, HeaderValue] = {}
    body: Annotated[str, Must('a string; write JSON as "{\\"a\\": 1}"', is_unicode)] = ""
    """Sent in chunks if `headers` have "Transfer-Encoding": "chunked"."""
    weight: Annotated[int, keys.whole(1, 1_000)] = 1
    status: Annotated[int, keys.whole(200, 599)] | None = None
    """Of the reply; None: any success."""

    def mistakes(self) -> Iterator[tuple[str, str]]:
        if len(self.headers) > MAX_HEADERS:
            yield "headers", f"must be at most {MAX_HEADERS}"
        encodings = [of for name, of in self.headers.items() if name.lower() == CHUNKED]
        if any(of.lower() != "chunked" for of in encodings):
            yield "headers", "have a Transfer-Encoding other than chunked"

    @property
    def is_chunked(self) -> bool:
        return any(name.lower() == CHUNKED for name in self.headers)

    def payload(self) -> bytes:
        """What is sent behind its head."""
        body = self.body.encode()
        if not self.is_chunked:
            return body
        starts = range(0, len(body), CHUNK_BYTES)
        chunks = (body[at : at + CHUNK_BYTES] for at in starts)
        return b"".join(b"%x\r\n%s\r\n" % (len(of), of) for of in (*chunks, b""))

    def line(self) -> str:
        """As the client reads it: its weight and status, and its bytes with escapes."""
        head = [f"{self.method} {self.path} HTTP/1.1"]
        head += [f"{name}: {value}" for name, value in self.headers.items()]
        text = "".join(f"{line}\r\n" for line in (*head, "")).encode() + self.payload()
        turns = f"{self.weight}" if self.status is None else f"{self.weight}:{self.status}"
        return f"{turns} {''.join(map(escaped, text))}\n"


class Upload(Request):
    """A file is its body."""

    file: Path

    def payload(self) -> bytes:
        return self.file.read_bytes()


@dataclass(frozen=True)
class RequestFile:
    name: str
    """As the study has it."""
    requests: tuple[Request, ...]

    def options(self, listed: str, upload: str) -> list[str]:
        """Of the client; `listed`: the file that has `text`; `upload`: how it sends another."""
        (first, *_) = self.requests
        if isinstance(first, Upload):
            return ["--path", first.path, upload, str(first.file)]
        return ["--requests", listed]

    def text(self) -> str:
        """For the client's --requests, which an upload does not have."""
        return "".join(of.line() for of in self.requests if not isinstance(of, Upload))

    def content(self) -> bytes:
        (first, *_) = self.requests
        if isinstance(first, Upload):
            return f"{first.path}\n".encode() + first.payload()
        return self.text().encode()

    def identity(self) -> str:
        """Its name and a digest of its content: what a ledger records."""
        digest = hashlib.sha256(self.content()).hexdigest()
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
        lines = content.decode().split("\n")
    except OSError as error:
        raise RequestFileError(f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise RequestFileError("is not UTF-8") from error
    if len(content) > MAX_BYTES:
        raise RequestFileError("is larger than 1 MiB")
    requests = tuple(read_lines(lines))
    if not requests:
        raise RequestFileError('has no request; write one a line: {"path": "/"}')
    if len(requests) > MAX_REQUESTS:
        raise RequestFileError(f"has more than {MAX_REQUESTS:,} requests")
    if sum(request.weight for request in requests) > MAX_WEIGHTS:
        raise RequestFileError(f"has weights that add up to more than {MAX_WEIGHTS:,}")
    return RequestFile(name, requests)


def read_upload(file: Path, name: str, path: str) -> RequestFile:
    """RequestFileError if it cannot be read."""
    try:
        with file.open("rb") as opened:
            opened.read(1)
        if file.stat().st_size > MAX_BODY_BYTES:
            raise RequestFileError("is larger than 256 MiB")
    except OSError as error:
        raise RequestFileError(f"cannot be read: {error.strerror or error}") from error
    return RequestFile(name, (Upload(method="POST", path=path, file=file.absolute()),))


def read_lines(lines: list[str]) -> Iterator[Request]:
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            said = json.loads(line, object_pairs_hook=without_repeats)
            yield keys.read(Request, said, "line", number)
        except StudyError as error:
            raise RequestFileError(f"is wrong: {error}") from error
        except (ValueError, RecursionError) as error:
            raise RequestFileError(
                f'has no JSON object in line {number + 1} ({error}); write {{"path": "/"}}'
            ) from error


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name.lower() for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise RequestFileError(f"{ascii(name[:40])} appears twice")
    return dict(pairs)
