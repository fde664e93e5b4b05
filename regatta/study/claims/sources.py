"""`[sources.NAME]`: who claims something, the figures, and the file with the claims."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regatta.errors import StudyError
from regatta.study.claims.statement import Metric
from regatta.study.form import Form, Text, read
from regatta.study.toml import content_of, text_of
from regatta.study.values import Connections


class Source(Form):
    """As it is written. Its files are named from the study's folder."""

    title: Text | None = None
    claims: Text | None = None
    """A TOML file of `[[claim]]`, beside those of the study itself."""
    published: Text | None = None
    """A CSV file."""
    metric: Metric | None = None
    """Of a CSV file that has a column for each machine and none for metrics."""
    connections: Connections | None = None
    """Of the same."""


class ClaimsFile(Form):
    """A file of one source's claims, as it is written."""

    claim: list[Any] = []


def text_of_claims(name: str, path: Path) -> str:
    """That of its file."""
    try:
        return text_of(path)
    except StudyError as error:
        raise StudyError(f"`sources.{name}.claims`: {error}") from error


def claims_in(text: str, name: str) -> list[Any]:
    """The tables in such a file, each a claim of this source unless it says another."""
    tables = read(ClaimsFile, content_of(text, "it")).claim
    if not tables:
        raise StudyError("it holds no claim; add a [[claim]]")
    return [{"source": name} | one if isinstance(one, dict) else one for one in tables]


@contextmanager
def told_of(file: str) -> Iterator[None]:
    """What is wrong in a file is told with its name; whoever reads the study tells the study's."""
    try:
        yield
    except StudyError as error:
        raise StudyError(f"{file}: {error}") from error
