"""The names and titles in the text of a study, for reports."""

import tomllib
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from regatta.errors import LedgerError
from regatta.ledger.validation import checked


@dataclass(frozen=True)
class Named:
    """A `[contenders.NAME]`."""

    title: str | None = None
    twin_of: str | None = None
    """The design whose twin it is."""


@dataclass(frozen=True)
class Names:
    name: str = "A race"
    title: str | None = None
    contenders: dict[str, Named] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        return self.title or self.name

    @property
    def titles(self) -> dict[str, str]:
        """By contender."""
        return {name: one.title or name for name, one in self.contenders.items()}

    @property
    def twins(self) -> dict[str, str]:
        """The design of each twin."""
        return {name: one.twin_of for name, one in self.contenders.items() if one.twin_of}


def names_in(toml: str) -> Names:
    """`toml`: the study's text from a ledger."""
    try:
        return checked(NAMES, tomllib.loads(toml))
    except ValueError as error:
        raise LedgerError(f"its study cannot be read ({error}); is the ledger complete?") from error


NAMES = TypeAdapter(Names)
