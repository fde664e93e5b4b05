"""Raw SQL access to a race's ledger, also for changes that no race would make."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from regatta.record.schema import FILE_NAME


def opened(place: Path) -> sqlite3.Connection:
    """`place`: the ledger file or the race folder."""
    return sqlite3.connect(place / FILE_NAME if place.is_dir() else place)


def rows(place: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(opened(place)) as ledger:
        return ledger.execute(query).fetchall()


def change(place: Path, statement: str, *values: object) -> None:
    with closing(opened(place)) as ledger, ledger:
        ledger.execute(statement, values)
