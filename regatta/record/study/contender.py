"""`[contenders.NAME]`: a server of your own, and how it is started, queried and stopped; and a
folder of them.
"""

import os
import re
import shlex
import shutil
import signal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo

from regatta.errors import StudyError
from regatta.record.study import keys, limits
from regatta.record.study.keys import Must, must, wrong
from regatta.record.study.request_file import (
    RequestFile,
    RequestFileError,
    read_request_file,
    read_upload,
)

SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Often not on the PATH of an ordinary user."""
PORT, LINE, ANSWER = READY = ("port", "line", "answer")
HTTP, LOG = READY_BY = ("http:", "log:")
READY_NEEDED = "port, line, answer, http:/PATH or log:TEXT"
STOP_SIGNALS = ("SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGKILL")
PLACEHOLDERS = ("host", "port", "cpus", "folder")
FOLDER = "{folder}"
PLACEHOLDER_PATTERN = re.compile(r"(?<!\$)\{([a-z_]+)\}")
COMMAND_NEEDED = 'a command such as ["{folder}/my-server", "{host}", "{port}"]'
PATH_NEEDED = "a path such as /hello: a slash, no space, at most 1024 characters"
REQUEST_NEEDED = "a line such as top 5: at most 1024 printable ASCII characters"
UNTIL_NEEDED = r"a regular expression such as ^\+OK\r\n: at most 256 printable ASCII characters"
RAW_NEEDED = r"text such as PING\r\n, with the escapes \r \n \t \\ \xHH: at most 256 characters"

HttpPath = Annotated[str, Must(PATH_NEEDED, limits.PATH_PATTERN.fullmatch)]
RequestLine = Annotated[str, Must(REQUEST_NEEDED, limits.REQUEST_PATTERN.fullmatch)]
Until = Annotated[str, Must(UNTIL_NEEDED, limits.UNTIL_PATTERN.fullmatch)]


def read_sent(
    value: Any, info: ValidationInfo, what: str, read: Callable[[Path, str], RequestFile]
) -> RequestFile:
    """The file, relative to the study's folder."""
    if not isinstance(value, str) or not value.isprintable() or not value:
        raise must(f"the name of a file{what}")
    folder = (info.context or {}).get("folder", Path())
    try:
        return read(folder / value, value)
    except RequestFileError as error:
        raise wrong("", f"names {value}, which {error}") from error


def read_requests(value: Any, info: ValidationInfo) -> RequestFile:
    return read_sent(value, info, " of requests", read_request_file)


def read_body(value: Any, info: ValidationInfo) -> RequestFile:
    path = info.data.get("path")
    if path is None:
        raise wrong("", "needs `path`, to which it is posted; add it")
    return read_sent(value, info, "", lambda file, name: read_upload(file, name, path))


def mistakes_in_asked(form: Any, dialects: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`path` is only for HTTP, `request` only for the line dialect, `until` for what it asks."""
    for key, spoken in (("path", "http"), ("request", "line")):
        if form.has(key) and set(dialects) != {spoken}:
            yield key, f"is only for the dialect {spoken}; remove one of them"
    if form.until is not None and form.request is None:
        yield "until", 'needs `request` and dialect = "line"; add them'
    if form.until is not None and not limits.RAW_PATTERN.fullmatch(form.request or ""):
        yield "request", f"is {form.request!r}; with `until` it must be {RAW_NEEDED}"


def read_command(value: Any, info: ValidationInfo) -> tuple[str, ...]:
    """A list of words, or a string that is split as a shell does; whole where one will read it."""
    if info.data.get("shell") and isinstance(value, str):
        return ("/bin/sh", "-c", value)
    try:
        words = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise must(f"{COMMAND_NEEDED} ({error})") from error
    right = isinstance(words, list) and all(
        isinstance(word, str) and "\0" not in word for word in words
    )
    if not right or not words or not words[0]:
        raise must(COMMAND_NEEDED)
    known_names = (*PLACEHOLDERS, *(info.data.get("companions") or {}))
    for name in (name for word in words for name in PLACEHOLDER_PATTERN.findall(word)):
        if name not in known_names:
            known = ", ".join(f"{{{placeholder}}}" for placeholder in known_names)
            raise wrong("", f"contains {{{name}}}; the placeholders are {known}")
    return tuple(words)


Command = Annotated[tuple[str, ...], BeforeValidator(read_command)]


def read_ready(value: Any) -> Any:
    is_known = value in READY or (
        isinstance(value, str)
        and any(value.startswith(by) and len(value) > len(by) for by in READY_BY)
    )
    path = str(value).removeprefix(HTTP)
    if not is_known or (path != value and not limits.PATH_PATTERN.fullmatch(path)):
        raise must(READY_NEEDED)
    return value


def is_ready_beside(how: str) -> bool:
    return how == PORT or (how.startswith(LOG) and how != LOG)


def read_pattern(value: Any) -> Any:
    try:
        return re.compile(value)
    except (re.error, TypeError) as error:
        raise must(f"a regular expression ({error})") from error


def read_signal(value: Any) -> signal.Signals:
    return signal.Signals[str(keys.choose(value, STOP_SIGNALS))]


ADDRESS = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")
ACCOUNT = re.compile(r"(pid):([0-9]+)|(unit|container|cgroup):(\S+)")
Address = Annotated[str, Must("where it listens, as 10.0.0.5:8080", ADDRESS.fullmatch)]
Account = Annotated[
    str, Must("pid:NUMBER, unit:NAME, container:NAME or cgroup:/PATH", ACCOUNT.fullmatch)
]

Script = Annotated[str, Must("text without a NUL byte", lambda text: "\0" not in text)]
CompanionName = Annotated[
    str,
    Must(
        "a name of small letters and _, and none of host, port, cpus, folder",
        lambda name: re.fullmatch("[a-z_]+", name) and name not in PLACEHOLDERS,
    ),
]


class Contender(keys.TomlTable):
    shell: keys.Flag = False
    """Whether sh reads `command`, if that is a text."""
    companions: dict[CompanionName, Command] = Field(default_factory=dict, alias="with")
    """Programs that run beside it, as a database; each has a {port} of its own, which `command`
    gets in place of its {NAME}."""
    command: Command = ()
    """With the placeholders {host}, {port}, {cpus} and {folder}; empty: its image's own."""
    with_ready: dict[str, Annotated[str, Must("port or log:TEXT", is_ready_beside)]] = {}
    """By name of a companion, as `ready`; the others are ready when they listen."""
    env: dict[keys.Text, Script] = Field(default_factory=dict)
    """More variables of its environment; values may have placeholders, as the next ones."""
    cpus: Annotated[int, keys.whole(1, limits.MAX_CPUS)] | None = None
    """How many of the server's CPUs it may use; None: all."""
    cwd: keys.Text | None = None
    """The folder that it is started in; None: an empty one."""
    setup: Script | None = None
    """What sh runs before each start, when its companions are ready ..."""
    teardown: Script | None = None
    """... and after each stop, before they stop."""
    address: Address | None = None
    """Where it listens already: it is neither started nor stopped."""
    account: Account | None = None
    """Whose CPU time and memory are its own: of a process with its descendants, a unit of systemd,
    a container, a control group. None: of the process that listens there, if it is on this host."""
    port: Annotated[int, keys.whole(1, 65535)] | None = None
    """Of a server that always listens on the same one."""
    dialect: Annotated[str, keys.one_of(limits.DIALECTS)] = "http"
    speaks: Annotated[str, keys.one_of(limits.SPOKEN)] = limits.HTTP
    """HTTP/1.1 alone or over TLS (https), HTTP/2 over TLS (h2) or alone (h2c); gRPC and WebSocket
    alone or over TLS (grpcs, wss), whose message is `body`."""
    streams: Annotated[int, keys.whole(1, limits.MAX_STREAMS)] = 1
    """HTTP/2, gRPC: requests that each connection carries at once. With a load over 50 connections
    and 10 streams, 5 connections carry 50 requests."""
    events: Annotated[int, keys.whole(0, limits.MAX_EVENTS)] | None = None
    """HTTP: each answer is a stream of server-sent events, left after so many; 0: read to its
    end."""
    path: HttpPath | None = None
    request: RequestLine | None = None
    requests: Annotated[RequestFile, BeforeValidator(read_requests)] | None = None
    """Instead of `path`."""
    body: Annotated[RequestFile, BeforeValidator(read_body)] | None = None
    """What is posted to `path`."""
    until: Until | None = None
    """What the reply to `request` ends with."""
    ready: Annotated[str, BeforeValidator(read_ready)] = PORT
    """`answer`: a client gets a right answer; `port`: it listens; `http:/PATH`: that is answered;
    `log:TEXT`: it prints a line with this text."""
    ready_line: Annotated[re.Pattern[str], BeforeValidator(read_pattern)] | None = None
    """Alone it implies ready = "line"."""
    ready_timeout_s: Annotated[float, keys.seconds(3_600)] | None = None
    title: keys.Text | None = None
    image: keys.Text | None = None
    """Its container image, if the sides are containers."""
    stop_signal: Annotated[signal.Signals, BeforeValidator(read_signal)] = signal.SIGTERM
    twin_of: Annotated[str, keys.among("designs")] | None = None
    """The design whose strategy it implements as the smallest correct server."""
    needs: keys.Text | None = None
    """A file, or a program on PATH; without it the contender is left out."""
    install: keys.Text | None = None
    """The command that builds or installs what it needs."""
    serves: keys.Many[HttpPath] | None = None
    """The paths that it answers, for `contenders = "all"`; None: every path."""

    def mistakes(self) -> Iterator[tuple[str, str]]:
        yield from self.mistakes_in_address()
        if self.address is None and not self.command and (self.port is None or self.image is None):
            yield "", "has no `command`; add it"
        in_command = any("port" in PLACEHOLDER_PATTERN.findall(word) for word in self.command)
        if not in_command and self.port is None and self.address is None:
            yield "command", "lacks {port}; add it, because every trial uses another port"
        if self.image is not None and self.cpus is not None:
            yield "cpus", "is only for a command; a container has all CPUs of its side"
        if in_command and self.port is not None:
            yield "port", "is only for a command without {port}; remove one of them"
        for name, words in self.companions.items():
            if not any("{port}" in word for word in words):
                yield "with", f"has a command of {name} without {{port}}; it gets a port of its own"
        if unknown := [name for name in self.with_ready if name not in self.companions]:
            yield "with_ready", f"names {unknown[0]}, but `with` does not; correct the name"
        yield from self.mistakes_in_protocol()
        if self.ready_line is not None and self.ready == PORT and self.has("ready"):
            yield "ready_line", 'is only for ready = "line"; remove one of them'
        if self.ready_line is None and self.ready == LINE:
            yield "", "has no `ready_line`; add a pattern that matches the line"

    def mistakes_in_protocol(self) -> Iterator[tuple[str, str]]:
        yield from mistakes_in_asked(self, (self.dialect,))
        if self.has("requests") and (self.dialect != "http" or self.has("path")):
            yield "requests", "is only for the dialect http without `path`"
        if self.speaks != limits.HTTP and self.dialect != "http":
            yield "speaks", "is only for the dialect http; remove one of them"
        if self.events is not None and self.dialect != "http":
            yield "events", "is only for the dialect http; remove one of them"
        in_messages = self.speaks in (*limits.GRPC, *limits.WEBSOCKET)
        if in_messages and (self.requests is not None or self.events is not None):
            yield "speaks", "is only for `path` and `body`; remove `requests` and `events`"
        if self.speaks in limits.GRPC and self.body is None:
            yield "speaks", "needs `body`, a file with the encoded message; add it"
        if self.streams > 1 and self.speaks not in (*limits.HTTP2, *limits.GRPC):
            yield "streams", f"needs HTTP/2; add speaks = {' or '.join(limits.HTTP2)}"

    def mistakes_in_address(self) -> Iterator[tuple[str, str]]:
        if self.address is None and self.account is not None:
            yield "account", "is only for a server that runs already; add its `address`"
        of_a_start = ("command", "port", "image", "env", "cpus", "cwd", "companions", "with_ready")
        started_by = (*of_a_start, "setup", "teardown")
        for key in filter(self.has, started_by if self.address is not None else ()):
            yield (
                {"companions": "with"}.get(key, key),
                "starts a server, but `address` names one that runs; remove one of them",
            )

    def missing(self, folder: Path) -> str | None:
        """Why it cannot run on this machine; `folder`: the study's."""
        if self.needs is None:
            return None
        needed = self.needs.replace(FOLDER, str(folder))
        path = os.pathsep.join((os.environ.get("PATH", os.defpath), *SYSTEM_FOLDERS))
        if Path(needed).exists() if "/" in needed else shutil.which(needed, path=path):
            return None
        advice = "" if self.install is None else f"; run {self.install}"
        return f"{needed} is missing{advice}"

    @property
    def sent(self) -> RequestFile | None:
        """Instead of a GET of its path."""
        return self.requests or self.body

    @property
    def uncompared(self) -> str | None:
        """Why its answers are not compared with one another as a whole; None: they are."""
        if self.events is not None:
            return "they are streams"
        return "they are messages" if self.speaks in (*limits.GRPC, *limits.WEBSOCKET) else None

    @property
    def printed_when_ready(self) -> re.Pattern[str] | None:
        """What a line matches that it prints then."""
        return log_line(self.ready) or self.ready_line

    def started(self, words: Sequence[str], values: Mapping[str, str]) -> list[str]:
        """The command line of these words, with placeholders filled in, in its folder."""
        where = ("env", "-C", self.cwd) if self.cwd and words else ()
        return [filled(word, values) for word in (*where, *words)]

    def variables(self, values: Mapping[str, str]) -> dict[str, str]:
        """Of its environment, with placeholders filled in."""
        return {name: filled(value, values) for name, value in self.env.items()}

    def words(self, host: str, port: int, cpus: Sequence[int], folder: Path) -> list[str]:
        """The command with all placeholders filled in, but for those of companions."""
        return self.started(self.command, placeholders(host, port, cpus, folder))


def log_line(ready: str) -> re.Pattern[str] | None:
    """What a line of `log:TEXT` matches; None for others."""
    return re.compile(re.escape(ready.removeprefix(LOG))) if ready.startswith(LOG) else None


def placeholders(host: str, port: int, cpus: Sequence[int], folder: Path) -> dict[str, str]:
    listed = ",".join(map(str, cpus))
    return dict(zip(PLACEHOLDERS, (host, str(port), listed, str(folder)), strict=True))


def filled(word: str, values: Mapping[str, str]) -> str:
    """Others than these stay: a shell may mean something else by them."""
    return PLACEHOLDER_PATTERN.sub(lambda match: values.get(match[1], match[0]), word)


# `contenders_from`: a folder of contenders, each in a folder of its own with a contender.toml. The
# file holds the keys of `[contenders.NAME]`. NAME is the name of its folder, {folder} its path.

FILE = "contender.toml"
BUILD = "build"
"""A script beside the folders that builds those that it is given."""


def read_folders(folder: Path, designs: Collection[str]) -> dict[str, Contender]:
    """The contenders of this folder by name; StudyError if there are none."""
    contents = contents_of_folders(folder, designs)
    return {name: read_content(folder / name, contents[name], designs) for name in contents}


def contents_of_folders(folder: Path, designs: Collection[str]) -> dict[str, dict[str, Any]]:
    """Their files, unchecked, with {folder} filled in."""
    files = sorted(folder.glob(f"*/{FILE}"))
    if not files:
        raise StudyError(f"`contenders_from`: no folder in {folder} has a {FILE}")
    for here in (file.parent for file in files):
        if not limits.NAME_PATTERN.fullmatch(here.name):
            needed = limits.NAME_NEEDED
            raise StudyError(f"`contenders_from`: {here} has no valid name; use {needed}")
        if here.name in designs:
            raise StudyError(f"`contenders_from`: {here} has a design's name; rename it")
    return {file.parent.name: content_of_file(file) for file in files}


def content_of_file(file: Path) -> dict[str, Any]:
    here = file.parent
    try:
        content: dict[str, Any] = of_folder(keys.content_of(keys.text_of(file), "it"), here)
    except StudyError as error:
        raise StudyError(f"{file}: {error}") from error
    if (here.parent / BUILD).is_file():
        content.setdefault("install", f"{here.parent / BUILD} {here.name}")
    return content


def of_folder(value: Any, folder: Path) -> Any:
    """With {folder} filled in."""
    if isinstance(value, dict):
        return {name: of_folder(each, folder) for name, each in value.items()}
    if isinstance(value, list):
        return [of_folder(each, folder) for each in value]
    return filled(value, {"folder": str(folder)}) if isinstance(value, str) else value


def read_content(here: Path, content: dict[str, Any], designs: Collection[str]) -> Contender:
    try:
        return keys.read(Contender, content, designs=designs, folder=here)
    except StudyError as error:
        raise StudyError(f"{here / FILE}: {error}") from error
