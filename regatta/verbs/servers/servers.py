"""The servers that a command line names: commands, images, designs of ours and shipped
contenders.
"""

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import chain, count
from pathlib import Path
from typing import Any

from regatta.errors import PlacementError, StudyError, UsageError
from regatta.judge.regression import AGAIN, BASE, HEAD
from regatta.measure.places.containers.engine import Engine, find_engine, need_image
from regatta.record.study import Contender, load_study
from regatta.record.study.contender import (
    ACCOUNT,
    ADDRESS,
    contents_of_folders,
    of_folder,
    read_folders,
)
from regatta.record.study.find import Design, shipped_folders
from regatta.record.study.keys import content_of
from regatta.record.study.limits import HTTPS, NAME_PATTERN, WEBSOCKET

FEWEST = 2
PORT = "{port}"
NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,63})=(.+)", re.DOTALL)
RUNNING = re.compile(
    r"((?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,63})=)?(?P<scheme>https?|wss?)://"
    r"(?P<host>\[[^]]*\]|[^/:?#]*)(:(?P<port>[0-9]*))?(?P<path>[/?]\S*)?"
)
INTERPRETERS = re.compile(
    r"(python[0-9.]*|pypy[0-9.]*|node|nodejs|deno|bun|ruby|perl|php|java|sh|bash|env|npx|uv|go)"
)
"""Programs whose argument names the server better than they do."""
QUOTED = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
"""Of a command: where no shell would see its own signs."""
ASSIGNED = re.compile(r"(\w+=)?([A-Za-z_]\w*=\S*\s.*)", re.DOTALL)
OF_A_SHELL = re.compile(r"^\s*(cd)\s|(&&|\|\||[|;&<>`]|\$\w+|\$[({])|(?:^|\s)(~)")
SUBCOMMANDS = frozenset({"run", "exec", "start", "-m", "-jar"})


@dataclass(frozen=True)
class Server:
    """A server that races."""

    name: str
    """In every table."""
    design: bool
    """Whether it is a design of ours; else `command` starts it."""
    command: tuple[str, ...] = ()
    """With {host}, {port} and {cpus} still in it."""
    folder: Path | None = None
    """Where the command is started; None: in the empty folder of its trial."""
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Of a shipped contender's file: how it is started."""
    was_early: bool = False
    """Whether it is ready, or listens, before it can answer."""
    image: str | None = None
    """The container image that starts it, without a command."""
    port: int | None = None
    """Where its image listens."""
    path: str | None = None
    """What is asked for in HTTP, if not what the command line says."""
    missing: str | None = None
    """Why a shipped contender cannot run here."""
    shell: str = ""
    """Instead of `command`, what sh reads."""
    address: str | None = None
    """HOST:PORT of one that runs already."""
    account: str | None = None
    """Whose CPU time is its own."""
    cpus: int | None = None
    """How many of the server's CPUs it may use; None: all."""
    tls: bool = False
    """Whether its address says https or wss."""
    speaks: str | None = None
    """What it speaks as its address says or the look before the race found; None: neither."""


def read_servers(
    words: Sequence[str],
    designs: Sequence[Design],
    folder: Path,
    images: Sequence[Server] = (),
    shell: bool = False,
) -> list[Server]:
    """The servers in their order, each under a name of its own.

    `words`: one for each server; `folder`: where a person called us, which their commands expect;
    `images`: servers that race as well; `shell`: sh reads commands.
    """
    shipped = shipped_contenders(designs)
    found = [read_server(word, designs, shipped, folder, shell) for word in words]
    if images and (commands := [server.name for server in found if not server.design]):
        raise UsageError(
            f"{commands[0]} is a command, which cannot race beside an --image: only designs and "
            "images run in containers; build an image of it"
        )
    return with_unique_names([*found, *images])


def read_server(
    word: str, designs: Sequence[Design], shipped: dict[str, Server], folder: Path, shell: bool
) -> Server:
    for design in designs:
        if design.name == word:
            if design.missing:
                raise UsageError(f"the design {word} cannot run here: {design.missing}")
            return Server(word, design=True)
    if word in shipped:
        if why := shipped[word].missing:
            raise UsageError(f"the contender {word} cannot run here: {why}")
        return shipped[word]
    if running := RUNNING.fullmatch(word):
        return running_server(word, running)
    named = NAMED.fullmatch(word)
    if named and shell and named[2].startswith(PORT):  # `PORT={port} node app.js`
        named = None
    name, text = (named[1], named[2]) if named else ("", word)
    if shell and PORT in text:
        words = [of for of in text.split() if not ASSIGNED.fullmatch(f"{of} x")]
        return Server(name or name_of(words), design=False, shell=text, folder=folder)
    check_shell(word, name, text)
    try:
        command = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{word!r} cannot be split into words as a shell does: {error}") from error
    check_command(word, command, [design.name for design in designs] + list(shipped), folder)
    return Server(name or name_of(command), design=False, command=command, folder=folder)


def running_server(word: str, url: re.Match[str]) -> Server:
    """`word`: its address as in a browser."""
    scheme, host, path = url["scheme"], url["host"], url["path"]
    is_tls = scheme in {HTTPS, "wss"}
    port = url["port"] or ("443" if is_tls else "80")
    address = f"{host}:{port}"
    if not ADDRESS.fullmatch(address):
        raise UsageError(f"{word} is no address; write it as http://10.0.0.5:8080/path")
    name = url["name"] or re.sub(r"[^A-Za-z0-9._-]+", "-", address).strip("-._")[-64:]
    path = f"/{path}" if path and path.startswith("?") else path
    asked = None if path == "/" else path
    speaks = scheme if scheme in WEBSOCKET else None
    return Server(name, design=False, address=address, path=asked, tls=is_tls, speaks=speaks)


def with_accounts(servers: Sequence[Server], words: Sequence[str]) -> list[Server]:
    """`words`: NAME=ACCOUNT each, of a server that runs already."""
    given = values_of("--account", words)
    for name, account in given.items():
        if not ACCOUNT.fullmatch(account):
            raise UsageError(
                f"--account {name}={account}: write pid:NUMBER, unit:NAME, container:NAME or "
                "cgroup:/PATH"
            )
    running = [server.name for server in servers if server.address is not None]
    if unknown := [name for name in given if name not in running]:
        named = f"those that run are {', '.join(running)}" if running else "none runs already"
        raise UsageError(f"--account names {unknown[0]}, but {named}")
    if BASE in given:
        given[AGAIN] = given[BASE]
    return [replace(server, account=given.get(server.name)) for server in servers]


def scaled(servers: Sequence[Server], counts: Sequence[int]) -> list[Server]:
    """Each command once for each number of CPUs, as NAME-1, NAME-4; as they are if `counts` is
    empty. UsageError if there is nothing to compare."""
    for server in servers if counts else ():
        if server.name in {BASE, HEAD}:
            raise UsageError("--scale is not for --base and --head; compare one number of CPUs")
        if server.design or server.image or server.address:
            kind = "a design" if server.design else "an image" if server.image else "an address"
            raise UsageError(f"--scale is for commands, but {server.name} is {kind}")
    found = [
        replace(server, name=f"{server.name}-{count}", cpus=count)
        for server in servers
        for count in counts
    ]
    found = found or list(servers)
    if len(found) < FEWEST:
        raise UsageError(
            "versus needs two servers or more: commands with {port} in them, addresses, designs or "
            "nginx; "
            "for instance: regatta versus './old --port {port}' './new --port {port}'"
        )
    return found


def check_command(word: str, command: tuple[str, ...], known: Sequence[str], folder: Path) -> None:
    if not any(PORT in part for part in command):
        if len(command) == 1:
            close = get_close_matches(word, known, 1)
            meant = f"did you mean {close[0]}? " if close else ""
            raise UsageError(
                f"{word!r} is no design and no shipped contender ({meant}there are: "
                f"{', '.join(known)}); a command of your own needs {PORT} where its port belongs"
            )
        raise UsageError(
            f"{word!r} has no {PORT}; write it where the port belongs: every trial has its own"
        )
    path = program_at(command[0], folder)
    if path is None:
        hint = ""
        if variables := ASSIGNED.fullmatch(word):
            with_env = f"{variables[1] or ''}env {variables[2]}"
            hint = f"; to set variables, write {shlex.quote(with_env)}"
        raise UsageError(
            f"there is no program {command[0]}; install or build it, or correct the path{hint}"
        )
    if not os.access(path, os.X_OK):
        raise UsageError(
            f"{command[0]} is not executable; chmod +x {command[0]}, or name its interpreter first"
        )


def program_at(word: str, folder: Path) -> Path | None:
    path = folder / word if "/" in word else Path(shutil.which(word) or "")
    return path if path.is_file() else None


def same_commands(servers: Sequence[Server]) -> list[str]:
    """A line for each server that is another one again."""
    first: dict[object, str] = {}
    return [
        f"{server.name} is the same command as {name}: only chance tells them apart"
        for server in servers
        if (command := server.command or server.shell)
        and (name := first.setdefault((command, server.folder, server.cpus), server.name))
        != server.name
    ]


def check_shell(word: str, name: str, text: str) -> None:
    """UsageError for what only a shell understands, with the command that has one."""
    bare = QUOTED.sub("_", text)
    signs = [sign for found in OF_A_SHELL.findall(bare) for sign in found if sign]
    if signs:
        named = f"{name}=" if name else ""
        raise UsageError(
            f"{word!r} needs a shell for {signs[0]}, and commands run without one; write "
            f'"{named}sh -c {shlex.quote(text)}", or quote {signs[0]} if the server shall see it'
        )


def needs_of(
    env: Sequence[str] | None,
    beside: Sequence[str] | None,
    ready: Sequence[str] | None,
    more: Mapping[str, str | None],
) -> dict[str, Any]:
    """Keys of `[contenders.NAME]`; those that are not given are left out."""
    of_beside = [how for how in ready or () if re.match("[a-z_]+=", how)]
    own = [how for how in ready or () if how not in of_beside]
    if len(own) > 1:
        raise UsageError(f"--ready {own[1]}: a server has one; of one of --with write NAME=HOW")
    found = {
        "env": values_of("--env", env or ()),
        "with": values_of("--with", beside or ()),
        "ready": own[0] if own else None,
        "with_ready": values_of("--ready", of_beside),
        **more,
    }
    return {key: value for key, value in found.items() if value}


def values_of(option: str, words: Sequence[str]) -> dict[str, str]:
    """By name; `words`: NAME=VALUE each."""
    pairs = [word.partition("=") for word in words]
    if wrong := [name for name, sign, _ in pairs if not (name and sign)]:
        raise UsageError(f"{option} {wrong[0]}: write it as NAME=VALUE")
    return {name: value for name, _, value in pairs}


def name_of(command: Sequence[str]) -> str:
    """`old` of ./old, `server` of python3 server.py."""
    for word in command:
        stem = Path(word).stem
        if word.startswith("-") or word in SUBCOMMANDS or PORT in word:
            continue
        if INTERPRETERS.fullmatch(Path(word).name) and len(command) > 1:
            continue
        if NAME_PATTERN.fullmatch(stem):
            return stem
    return Path(command[0]).stem if NAME_PATTERN.fullmatch(Path(command[0]).stem) else "server"


def with_unique_names(servers: Sequence[Server]) -> list[Server]:
    """Where two have the same name, a number tells them apart."""
    taken = {server.name for server in servers if server.design}
    if len(taken) < sum(server.design for server in servers):
        raise UsageError("a design is named twice; it would race against itself")
    found = []
    for server in servers:
        name = server.name
        if not server.design:
            numbered = (f"{name}-{number}" for number in count(2))
            name = next(free for free in chain([name], numbered) if free not in taken)
        taken.add(name)
        found.append(replace(server, name=name))
    return found


def shipped_contenders(designs: Sequence[Design]) -> dict[str, Server]:
    """Those that speak HTTP: of contenders/*/contender.toml and, in place of one of the same name,
    of the studies beside it."""
    found: dict[str, Server] = {}
    named = [design.name for design in designs]
    for folder in {shipped.parent / "contenders" for shipped in shipped_folders()}:
        if folder.is_dir():
            contents = contents_of_folders(folder.resolve(), named)
            found |= shipped(contents, read_folders(folder.resolve(), named), folder)
        for file in sorted(folder.glob("*/*.toml")):
            with suppress(StudyError):  # of a design that this build lacks; nobody asked for it
                study, beside = load_study(file, designs), file.resolve().parent
                tables = of_folder(content_of(study.toml, "it")["contenders"], beside)
                found |= shipped(tables, study.contenders, beside)
    return found


def shipped(
    contents: Mapping[str, Any], contenders: Mapping[str, Contender], folder: Path
) -> dict[str, Server]:
    return {
        name: Server(
            name,
            design=False,
            command=tuple(of_folder([*contenders[name].command], folder)),
            path=contenders[name].path,
            missing=contenders[name].missing(folder),
            keys={key: value for key, value in content.items() if key not in NOT_OF_A_START},
        )
        for name, content in contents.items()
        if contenders[name].dialect == "http"
    }


NOT_OF_A_START = ("title", "needs", "install", "serves", "path", "requests", "dialect", "twin_of")


EXPOSED = ("image", "inspect", "--format", "{{json .Config.ExposedPorts}}")
TCP = re.compile(r"(\d+)(/tcp)?")


def read_images(words: Sequence[str], port: int | None) -> list[Server]:
    """`words`: each an image, or NAME=IMAGE. `port`: where they listen; None: where they say."""
    if not words:
        if port is not None:
            raise UsageError("--image-port is only for --image; add one, or remove it")
        return []
    engine, found = find_engine(), []
    for word in words:
        named = NAMED.fullmatch(word)
        image = named[2] if named else word
        # `mine-1.4` of registry.example/mine:1.4
        last = image.rpartition("/")[2].partition("@")[0]
        name = re.sub(r"[^A-Za-z0-9._-]", "-", last).strip("-._")[:64] or "image"
        need_image(engine, image)
        listens = port or exposed(engine, image)
        found.append(Server(named[1] if named else name, False, image=image, port=listens))
    return found


def exposed(engine: Engine, image: str) -> int:
    """The only TCP port of its EXPOSE lines."""
    try:
        found = json.loads(engine.run(*EXPOSED, image)) or {}
    except ValueError as error:
        raise PlacementError(f"{engine.name} does not say which ports {image} exposes") from error
    ports = sorted(int(match[1]) for key in found if (match := TCP.fullmatch(key)))
    if len(ports) == 1:
        return ports[0]
    which = f"exposes the ports {', '.join(map(str, ports))}" if ports else "exposes no port"
    raise UsageError(f"the image {image} {which}; name the one it listens on with --image-port")
