"""The command that a Dockerfile's last stage starts, and its folder."""

import json
import re
from dataclasses import dataclass

from regatta.importing.checkout import SkippedError
from regatta.study.contender import PLACEHOLDER_PATTERN

CONTINUED = re.compile(r"\\[ \t]*\n")
IN_FOLDER = ("sh", "-c", 'cd "$0" && exec "$@"')
"""A race starts every server in a folder of its own."""


@dataclass
class Stage:
    folder: str = "/"
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


def started_by(text: str) -> tuple[str, ...]:
    """The words that start the server; SkippedError if the Dockerfile does not tell."""
    stage = Stage()
    for line in CONTINUED.sub(" ", text).splitlines():
        word, _, rest = line.strip().partition(" ")
        match word.upper():
            case "FROM":
                stage = Stage()
            case "WORKDIR":
                folder = rest.strip().strip("\"'")
                stage.folder = (
                    folder if folder[:1] == "/" else f"{stage.folder.rstrip('/')}/{folder}"
                )
            case "ENTRYPOINT":
                stage.entrypoint, stage.command = words_of(rest), ()
            case "CMD":
                stage.command = words_of(rest)
    words = (*stage.entrypoint, *stage.command)
    if not words:
        raise SkippedError("its Dockerfile names no command in its last stage")
    if "$" in stage.folder:
        raise SkippedError("the folder in its Dockerfile is a variable")
    if stage.folder != "/":
        words = (*IN_FOLDER, stage.folder, *words)
    if any(PLACEHOLDER_PATTERN.search(word) or "\0" in word for word in words):
        raise SkippedError("its command has a word in braces, which a study would replace")
    return words


def words_of(text: str) -> tuple[str, ...]:
    """A JSON list, or a line for the shell."""
    text = text.strip()
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        words = None
    if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
        return tuple(words)
    return ("sh", "-c", text) if text else ()
