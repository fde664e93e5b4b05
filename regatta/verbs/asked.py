"""What `regatta versus` asks of the servers: a path, the requests of a file, or raw text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_letters, digits, punctuation
from typing import Annotated
from urllib.parse import quote

import typer

from regatta.errors import UsageError
from regatta.record.study import parse_pause
from regatta.record.study.limits import (
    MAX_P99_LIMIT_MS,
    MIN_P99_LIMIT_MS,
    PATH_PATTERN,
    RAW_PATTERN,
    UNTIL_PATTERN,
)
from regatta.record.study.request_file import RequestFileError, read_request_file
from regatta.verbs.servers.by_client import check_raw
from regatta.verbs.servers.servers import Server

ANY = "/"
PRINTED = ascii_letters + digits + punctuation


@dataclass(frozen=True)
class AskedOptions:
    path: Annotated[
        str, typer.Option(help="Path of the requests to commands; /café becomes /caf%C3%A9.")
    ] = ANY
    request: Annotated[
        Path | None,
        typer.Option(
            help='JSON lines, sent by "weight": {"method": "POST", "path": "/items", "body": "x"}.'
        ),
    ] = None
    raw: Annotated[
        str | None,
        typer.Option(help=r"Text for servers of another protocol, with \r \n \t \xHH \\."),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="Where the reply to --raw ends."),
    ] = None

    may_differ: Annotated[
        bool,
        typer.Option(
            "--answers-may-differ",
            help="Race servers that answer differently, or each time, unchecked.",
        ),
    ] = False
    ready_timeout: Annotated[
        str | None,
        typer.Option(help="How long a server may start: 60s.", show_default="20s"),
    ] = None
    p99_limit: Annotated[
        float | None,
        typer.Option(
            metavar="MS",
            help="The p99 up to which a rate is held.",
            show_default="50, or more if an answer takes over 10 without load",
        ),
    ] = None

    @property
    def encoded_path(self) -> str:
        """As HTTP writes it."""
        return quote(self.path, safe=PRINTED)

    @property
    def ready_timeout_s(self) -> int | None:
        if self.ready_timeout is None:
            return None
        return max(1, parse_pause(self.ready_timeout, "--ready-timeout"))

    def check(self, servers: Sequence[Server], client: Path) -> None:
        """UsageError unless all servers can be asked that."""
        if not PATH_PATTERN.fullmatch(self.encoded_path) or not self.path.isprintable():
            raise UsageError(
                f"--path is {self.path!r}; it must begin with a slash, and be printable and short"
            )
        limit = self.p99_limit
        if limit is not None and not MIN_P99_LIMIT_MS <= limit <= MAX_P99_LIMIT_MS:
            raise UsageError(
                f"--p99-limit is {limit:g}; it must be from {MIN_P99_LIMIT_MS:g} to "
                f"{MAX_P99_LIMIT_MS:,g} ms"
            )
        given = {
            "--path": self.path != ANY,
            "--request": self.request is not None,
            "--raw": self.raw is not None,
        }
        options = [option for option, is_given in given.items() if is_given]
        if len(options) > 1:
            raise UsageError(f"{' and '.join(options)} exclude each other; choose one")
        if (self.raw is None) != (self.until is None):
            raise UsageError("--raw TEXT and --until REGEX need each other; give both")
        designs = [one.name for one in servers if one.design]
        if designs and options and options != ["--path"]:
            raise UsageError(
                f"{options[0]} is only for commands; {designs[0]} is a design, which answers only "
                "its own paths; leave it out"
            )
        if self.request is not None:
            check_file(self.request)
        if self.raw is not None:
            check_text(self.raw, self.until or "", client)


def check_file(file: Path) -> None:
    try:
        read_request_file(file, str(file))
    except RequestFileError as error:
        raise UsageError(f"--request {str(file)!r} {error}") from error


def check_text(raw: str, until: str, client: Path) -> None:
    if not RAW_PATTERN.fullmatch(raw):
        raise UsageError(
            f"--raw is {raw!r}; it must be 1 to 256 printable ASCII characters with the escapes "
            r"\r \n \t \\ \xHH"
        )
    if not UNTIL_PATTERN.fullmatch(until):
        raise UsageError(f"--until is {until!r}; it must be 1 to 256 printable ASCII characters")
    check_raw(client, raw, until)
