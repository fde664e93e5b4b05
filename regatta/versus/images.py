"""The container images that a command line names, as servers."""

import json
import re
from collections.abc import Sequence

from regatta.errors import PlacementError, UsageError
from regatta.machine.containers.engine import Engine, find_engine
from regatta.machine.containers.image import need_image
from regatta.versus.servers import NAMED, Server

FORMAT = "{{json .Config.ExposedPorts}}"
TCP = re.compile(r"(\d+)(/tcp)?")


def read_images(words: Sequence[str], port: int | None) -> list[Server]:
    """Each with the port that it listens on: `port`, or the one that it exposes."""
    if not words:
        if port is not None:
            raise UsageError("--image-port is only for --image; add one, or remove it")
        return []
    engine = find_engine()
    return [read_image(word, port, engine) for word in words]


def read_image(word: str, port: int | None, engine: Engine) -> Server:
    """`word`: an image, or NAME=IMAGE."""
    named = NAMED.fullmatch(word)
    name, image = (named[1], named[2]) if named else (name_of(word), word)
    need_image(engine, image)
    return Server(name, design=False, image=image, port=port or exposed(engine, image))


def name_of(image: str) -> str:
    """`mine-1.4` of registry.example/mine:1.4."""
    last = image.rpartition("/")[2].partition("@")[0]
    return re.sub(r"[^A-Za-z0-9._-]", "-", last).strip("-._")[:64] or "image"


def exposed(engine: Engine, image: str) -> int:
    """The only TCP port of its EXPOSE lines."""
    try:
        found = json.loads(engine.run("image", "inspect", "--format", FORMAT, image)) or {}
    except ValueError as error:
        raise PlacementError(f"{engine.name} does not say which ports {image} exposes") from error
    ports = sorted(int(match[1]) for key in found if (match := TCP.fullmatch(key)))
    if len(ports) == 1:
        return ports[0]
    which = f"exposes the ports {', '.join(map(str, ports))}" if ports else "exposes no port"
    raise UsageError(f"the image {image} {which}; name the one it listens on with --image-port")
