"""Contenders of your own: somebody's server, as `[contenders.NAME]` of a study describes it."""

import re
import shlex
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, model_validator

from regatta.study.form import Form, Must, Text, among, choose, must, one_of, wrong
from regatta.study.limits import DIALECTS, PATH_PATTERN, REQUEST_PATTERN

PORT = "port"
LINE = "line"
READY = (PORT, LINE)
STOP_SIGNALS = ("SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGKILL")
PLACEHOLDERS = ("host", "port", "cpus", "folder")
PLACEHOLDER_PATTERN = re.compile(r"(?<!\$)\{([a-z_]+)\}")
COMMAND_NEEDED = 'a command such as ["{folder}/my-server", "{host}", "{port}"]'

HttpPath = Annotated[
    str,
    Must("a path such as /hello: a slash, no space, at most 1024 letters", PATH_PATTERN.fullmatch),
]
RequestLine = Annotated[
    str,
    Must("a line such as top 5: at most 1024 printable ASCII letters", REQUEST_PATTERN.fullmatch),
]


def check_asked(form: Form, dialects: Sequence[str]) -> None:
    """Each dialect has its own way to say what is asked for."""
    for key, spoken in (("path", "http"), ("request", "line")):
        if form.has(key) and set(dialects) != {spoken}:
            raise wrong(key, f"is for the dialect {spoken}; remove one of them")


def read_command(value: Any) -> tuple[str, ...]:
    """A list of words, or one text that is taken apart as a shell does."""
    try:
        words = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise must(f"{COMMAND_NEEDED} ({error})") from error
    right = isinstance(words, list) and all(
        isinstance(word, str) and "\0" not in word for word in words
    )
    if not right or not words or not words[0]:
        raise must(COMMAND_NEEDED)
    placeholders = [name for word in words for name in PLACEHOLDER_PATTERN.findall(word)]
    for name in placeholders:
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{placeholder}}}" for placeholder in PLACEHOLDERS)
            raise wrong("", f"holds {{{name}}}; there are {known}")
    if "port" not in placeholders:
        raise wrong("", "lacks {port}; every trial has its own port")
    return tuple(words)


def read_pattern(value: Any) -> Any:
    try:
        return re.compile(value)
    except (re.error, TypeError) as error:
        raise must(f"a regular expression ({error})") from error


def read_signal(value: Any) -> signal.Signals:
    return signal.Signals[str(choose(value, STOP_SIGNALS))]


class Contender(Form):
    """How a server that is not ours is started, asked and stopped."""

    command: Annotated[tuple[str, ...], BeforeValidator(read_command)]
    """With {host}, {port}, {cpus} and {folder} (the study's) still in it."""
    dialect: Annotated[str, one_of(DIALECTS)] = "http"
    path: HttpPath | None = None
    request: RequestLine | None = None
    ready: Annotated[str, one_of(READY)] = PORT
    ready_line: Annotated[re.Pattern[str], BeforeValidator(read_pattern)] | None = None
    title: Text | None = None
    image: Text | None = None
    """That it comes in, where sides are containers."""
    stop_signal: Annotated[signal.Signals, BeforeValidator(read_signal)] = signal.SIGTERM
    twin_of: Annotated[str, among("designs")] | None = None
    """The design of whose strategy it is the smallest correct server, if of any."""

    @model_validator(mode="after")
    def check_what_is_asked(self) -> Self:
        check_asked(self, (self.dialect,))
        return self

    @model_validator(mode="after")
    def check_ready(self) -> Self:
        """A line that is named is waited for."""
        if self.ready_line is not None and self.ready == PORT and self.has("ready"):
            raise wrong("ready_line", 'is for ready = "line"; remove one')
        if self.ready_line is None and self.ready == LINE:
            raise wrong("", "has no `ready_line`; add the pattern of that line")
        return self

    def words(self, host: str, port: int, cpus: Sequence[int], folder: Path) -> list[str]:
        """The command as it is run."""
        values = {
            "host": host,
            "port": str(port),
            "cpus": ",".join(map(str, cpus)),
            "folder": str(folder),
        }
        return [
            PLACEHOLDER_PATTERN.sub(lambda match: values[match[1]], word) for word in self.command
        ]
