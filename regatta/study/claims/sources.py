"""`[sources.NAME]`: the author of claims, with files of claims and published figures."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regatta.errors import StudyError
from regatta.study.claims.statement import Metric
from regatta.study.toml import content_of, text_of
from regatta.study.toml_table import Text, TomlTable, read
from regatta.study.values import Connections


class Source(TomlTable):
    """File names are relative to the study's folder."""

    title: Text | None = None
    claims: Text | None = None
    """A TOML file of `[[claim]]` tables, in addition to the study's own."""
    published: Text | None = None
    """A CSV file."""
    metric: Metric | None = None
    """The metric of a CSV file that has a column for each machine."""
    connections: Connections | None = None
    """The number of connections of such a file."""


class ClaimsFile(TomlTable):
    claim: list[Any] = []


def text_of_claims(name: str, path: Path) -> str:

    try:
        return text_of(path)
    except StudyError as error:
        raise StudyError(f"`sources.{name}.claims`: {error}") from error


def claims_in(text: str, name: str) -> list[Any]:
    """The claims of such a file; their default source is this one."""
    tables = read(ClaimsFile, content_of(text, "it")).claim
    if not tables:
        raise StudyError("it has no claim; add a [[claim]] table")
    return [{"source": name} | one if isinstance(one, dict) else one for one in tables]


@contextmanager
def naming_file(file: str) -> Iterator[None]:
    """Adds the file's name to errors; the caller adds the study's."""
    try:
        yield
    except StudyError as error:
        raise StudyError(f"{file}: {error}") from error
