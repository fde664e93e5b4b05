"""Contenders of your own: somebody's server, as `[contenders.NAME]` of a study describes it."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regatta.errors import StudyError
from regatta.study.limits import DIALECTS, NAME_NEEDED, NAME_PATTERN, PATH_PATTERN
from regatta.study.table import Table

PORT = "port"
LINE = "line"
READY = (PORT, LINE)
STOP_SIGNALS = ("SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGKILL")
KEYS = ("command", "dialect", "path", "ready", "ready_line", "title", "stop_signal", "twin_of")
PLACES = ("host", "port", "cpus", "folder")
PLACE_PATTERN = re.compile(r"(?<!\$)\{([a-z_]+)\}")


@dataclass(frozen=True)
class Contender:
    """How a server that is not ours is started, asked and stopped."""

    name: str
    title: str
    command: tuple[str, ...]
    """With {host}, {port}, {cpus} and {folder} (the study's) still in it."""
    dialect: str
    path: str | None
    ready: str
    ready_line: re.Pattern[str] | None = field(compare=False)
    stop_signal: signal.Signals
    twin_of: str | None = None
    """The design of whose strategy it is the smallest correct server, if of any."""

    def words(self, host: str, port: int, cpus: Sequence[int], folder: Path) -> list[str]:
        """The command as it is run."""
        values = {
            "host": host,
            "port": str(port),
            "cpus": ",".join(map(str, cpus)),
            "folder": str(folder),
        }
        return [PLACE_PATTERN.sub(lambda match: values[match[1]], word) for word in self.command]


def read_command(table: Table) -> tuple[str, ...]:
    """A list of words, or one text that is taken apart as a shell does."""
    needed = 'a command such as ["{folder}/my-server", "{host}", "{port}"]'
    if not table.has("command"):
        raise StudyError(f"`{table.place}` has no `command`; add {needed}")
    value = table.content["command"]
    try:
        words = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise table.fail("command", f"{needed} ({error})") from error
    right = isinstance(words, list) and all(
        isinstance(word, str) and "\0" not in word for word in words
    )
    if not right or not words or not words[0]:
        raise table.fail("command", needed)
    places = [name for word in words for name in PLACE_PATTERN.findall(word)]
    for name in places:
        if name not in PLACES:
            known = ", ".join(f"{{{place}}}" for place in PLACES)
            raise StudyError(f"`{table.named('command')}` holds {{{name}}}; there are {known}")
    if "port" not in places:
        raise StudyError(
            f"`{table.named('command')}` lacks {{port}}; every trial has a port of its own"
        )
    return tuple(words)


def read_ready(table: Table) -> tuple[str, re.Pattern[str] | None]:
    """How the lab learns that the server accepts connections."""
    ready = table.choice("ready", LINE if table.has("ready_line") else PORT, READY)
    if ready == PORT:
        if table.has("ready_line"):
            raise StudyError(f'`{table.named("ready_line")}` is for ready = "line"; remove one')
        return ready, None
    if not table.has("ready_line"):
        raise StudyError(f"`{table.place}` has no `ready_line`; add the pattern of that line")
    try:
        return ready, re.compile(table.text("ready_line", ""))
    except re.error as error:
        raise table.fail("ready_line", f"a regular expression ({error})") from error


def read_contender(name: str, content: object, designs: Sequence[str]) -> Contender:
    place = f"contenders.{name}"
    if not NAME_PATTERN.fullmatch(name):
        raise StudyError(f"`{place}`: the name must be {NAME_NEEDED}")
    if name in designs:
        raise StudyError(f"`{place}` has the name of a design; give it another")
    if not isinstance(content, dict):
        raise StudyError(f"`{place}` must be a table; write [{place}]")
    table = Table(content, place, KEYS)
    dialect = table.choice("dialect", "http", DIALECTS)
    ready, ready_line = read_ready(table)
    return Contender(
        name=name,
        title=table.text("title", name),
        command=read_command(table),
        dialect=dialect,
        path=read_path(table, [dialect]),
        ready=ready,
        ready_line=ready_line,
        stop_signal=signal.Signals[table.choice("stop_signal", "SIGTERM", STOP_SIGNALS)],
        twin_of=table.choice("twin_of", "", designs) if table.has("twin_of") else None,
    )


def read_path(table: Table, dialects: Sequence[str]) -> str | None:
    """What is asked for in HTTP, if it is something else than the top processes."""
    if not table.has("path"):
        return None
    if "line" in dialects:
        raise StudyError(f"`{table.named('path')}` is for the dialect http; remove one of them")
    path = table.text("path", "")
    if not PATH_PATTERN.fullmatch(path):
        raise table.fail("path", "a path such as /hello: a slash, no space, at most 1024 letters")
    return path


def read_contenders(content: dict[str, Any], designs: Sequence[str]) -> dict[str, Contender]:
    """All of a study, by name, in the order of the file."""
    tables = content.get("contenders", {})
    if not isinstance(tables, dict):
        raise StudyError("`contenders` must be tables; write [contenders.NAME]")
    return {name: read_contender(name, value, designs) for name, value in tables.items()}
