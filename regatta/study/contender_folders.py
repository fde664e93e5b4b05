"""`contenders_from`: a folder of contenders, each in a folder of its own with a contender.toml.

The file holds the keys of `[contenders.NAME]`. NAME is the name of its folder, {folder} its path.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regatta.errors import StudyError
from regatta.study.contender import FOLDER, Contender
from regatta.study.design import Design
from regatta.study.limits import NAME_NEEDED, NAME_PATTERN
from regatta.study.toml import content_of, text_of
from regatta.study.toml_table import read

FILE = "contender.toml"
BUILD = "build"
"""A script beside the folders that builds those that it is given."""


def read_folders(folder: Path, designs: Sequence[Design]) -> dict[str, Contender]:
    """The contenders of this folder by name; StudyError if there are none."""
    files = sorted(folder.glob(f"*/{FILE}"))
    if not files:
        raise StudyError(f"`contenders_from`: no folder in {folder} has a {FILE}")
    for file in files:
        check_name(file.parent, designs)
    return {file.parent.name: read_file(file, designs) for file in files}


def check_name(folder: Path, designs: Sequence[Design]) -> None:
    if not NAME_PATTERN.fullmatch(folder.name):
        raise StudyError(f"`contenders_from`: {folder} has no valid name; use {NAME_NEEDED}")
    if any(design.name == folder.name for design in designs):
        raise StudyError(f"`contenders_from`: {folder} has a design's name; rename it")


def read_file(file: Path, designs: Sequence[Design]) -> Contender:
    names = [design.name for design in designs]
    try:
        content = content_of(text_of(file), "it")
        found = read(Contender, content, designs=names, folder=file.parent)
    except StudyError as error:
        raise StudyError(f"{file}: {error}") from error
    here, name = str(file.parent), file.parent.name
    changes: dict[str, Any] = {
        "command": tuple(word.replace(FOLDER, here) for word in found.command),
        "needs": found.needs and found.needs.replace(FOLDER, here),
    }
    if found.install is None and (file.parents[1] / BUILD).is_file():
        changes["install"] = f"{file.parents[1] / BUILD} {name}"
    return found.model_copy(update=changes)
