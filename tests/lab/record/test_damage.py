"""A ledger in which some bytes were changed: it is read, or refused in one
line that names it, and nothing is written to it."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regatta.errors import LedgerError
from regatta.record.files import open_ledger
from regatta.record.read import read, read_failures, read_meta
from regatta.record.schema import FILE_NAME
from tests.lab import synthetic

MANY = settings(max_examples=200, suppress_health_check=list(HealthCheck))
READERS = (read, read_meta, read_failures, open_ledger)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small one: what is rare in a large file is often hit here."""
    path = synthetic.make(
        tmp_path_factory.mktemp("whole") / FILE_NAME,
        contenders=("select", "iterative"),
        connections=[1],
        blocks=2,
        counted_blocks=1,
        requests=3,
    )
    with closing(sqlite3.connect(path)) as database:
        database.execute("VACUUM")
    return path.read_bytes()


def use(reader: Callable[[Path], object], path: Path) -> None:
    """Reads it, or is told in one line why that cannot be."""
    before = path.read_bytes()
    try:
        found = reader(path)
    except LedgerError as error:
        message = str(error)
        assert "\n" not in message
        assert str(path) in message
        assert path.read_bytes() == before
    else:
        if reader is open_ledger:
            found.close()  # type: ignore[attr-defined]


@MANY
@given(reader=st.sampled_from(READERS), data=st.data())
def test_one_with_a_changed_byte_is_read_or_refused(
    tmp_path: Path, whole: bytes, reader: Callable[[Path], object], data: st.DataObject
) -> None:
    written = [at for at, byte in enumerate(whole) if byte]  # most of a page is empty
    damaged = bytearray(whole)
    for at in data.draw(st.lists(st.sampled_from(written), min_size=1, max_size=3)):
        damaged[at] = data.draw(st.integers(0, 255))
    (tmp_path / FILE_NAME).write_bytes(damaged)
    use(reader, tmp_path / FILE_NAME)
