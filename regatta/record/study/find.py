"""Finds a study by its path, or by the name of one that ships; the names and titles in its text;
and a design, as the server lists it.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from regatta.errors import LedgerError, StudyError, checked
from regatta.record.study.keys import suggestion
from regatta.record.study.limits import NAME_PATTERN


@dataclass(frozen=True)
class Design:
    """One row of the server's table of designs."""

    name: str
    summary: str
    pool: bool = False
    """It has a configurable number of workers."""
    missing: str | None = None
    """Why it cannot run on this machine."""


def shipped_folders() -> list[Path]:
    """The studies of an installed package, and those of the repository."""
    package = Path(__file__).resolve().parents[2]
    return [package / "studies", package.parent / "studies"]


def shipped_names() -> list[str]:
    found = {path.stem for folder in shipped_folders() for path in folder.glob("*.toml")}
    return sorted(found)


def find_study(name: str) -> Path:
    path = Path(name)
    if path.is_file():
        return path
    if NAME_PATTERN.fullmatch(name):
        for folder in shipped_folders():
            shipped = folder / f"{name.removesuffix('.toml')}.toml"
            if shipped.is_file():
                return shipped
    shipped_list = ", ".join(shipped_names()) or "none"
    like = suggestion(name, shipped_names())
    raise StudyError(f"there is no study {name}; name a TOML file, or one of: {shipped_list}{like}")


@dataclass(frozen=True)
class NamedContender:
    title: str | None = None
    twin_of: str | None = None
    """The design whose twin it is."""


@dataclass(frozen=True)
class Names:
    name: str = "A race"
    title: str | None = None
    contenders: dict[str, NamedContender] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        return self.title or self.name

    @property
    def titles(self) -> dict[str, str]:
        """By contender."""
        return {name: known.title or name for name, known in self.contenders.items()}

    @property
    def twins(self) -> dict[str, str]:
        """The design of each twin."""
        return {name: known.twin_of for name, known in self.contenders.items() if known.twin_of}


def names_in(toml: str) -> Names:
    """`toml`: the study's text from a ledger."""
    try:
        return checked(NAMES, tomllib.loads(toml))
    except ValueError as error:
        raise LedgerError(f"its study cannot be read ({error}); is the ledger complete?") from error


NAMES = TypeAdapter(Names)
