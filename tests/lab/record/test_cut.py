"""A ledger that is cut at any byte: what was finished is there, or it is told; never half of it."""

import random
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from regatta.errors import LedgerError
from regatta.record import read as ledger_read
from regatta.record.files import open_ledger
from regatta.record.schema import FILE_NAME
from tests.lab.record.test_ledger import create, plan, result
from tests.ledgers import opened, rows

TRIALS = 6
WAL = f"{FILE_NAME}-wal"
PAGE = 4096
COUNTERS = "SELECT count(counter.event) FROM trial LEFT JOIN counter ON trial_id = trial.id"


@pytest.fixture(scope="module")
def died(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As a lab that was killed leaves it: the last trials are in the -wal file alone."""
    folder = tmp_path_factory.mktemp("died")
    left = folder / "left"
    left.mkdir()
    with create(folder) as book:
        for at in range(TRIALS):
            book.record([result(at)])
        for name in (FILE_NAME, WAL):
            shutil.copy(folder / name, left / name)
    return left


def cuts(size: int, count: int, seed: int) -> list[int]:
    """Bytes that are kept: some by chance, and those around the ends of pages."""
    chance = random.Random(seed)
    ends = [page + by for page in range(0, size, PAGE) for by in (-1, 0, 1)]
    some = chance.sample(ends, min(len(ends), count // 2)) + [
        chance.randrange(size) for _ in range(count // 2)
    ]
    return sorted({keep for keep in some if 0 <= keep < size})


def copied(died: Path, folder: Path, name: str, keep: int) -> Path:
    """With that file cut."""
    copy = folder / str(keep)
    shutil.copytree(died, copy)
    with (copy / name).open("r+b") as file:
        file.truncate(keep)
    return copy / FILE_NAME


def whole_trials(path: Path) -> int:
    """How many trials it holds: the first of the plan, each with all its counters."""
    with open_ledger(path) as book:
        left = book.left()
    assert left == plan()[len(plan()) - len(left) :]
    assert {count for (count,) in rows(path, f"{COUNTERS} GROUP BY trial.id")} <= {3}
    return len(plan()) - len(left)


def test_what_was_written_before_the_cut_is_there_and_the_rest_is_left_to_do(
    died: Path, tmp_path: Path
) -> None:
    size = (died / WAL).stat().st_size
    found = [whole_trials(copied(died, tmp_path, WAL, keep)) for keep in cuts(size, 160, 1)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, TRIALS - 1)
    assert len(set(found)) == TRIALS


def told_or_found(look: Callable[[Path], int], path: Path) -> int | str:
    """How many trials there are, or why that cannot be said."""
    try:
        return look(path)
    except LedgerError as error:
        return str(error)


@pytest.mark.parametrize("look", [whole_trials, lambda path: len(ledger_read.read(path).trials)])
def test_a_ledger_without_its_end_is_told_or_whole(
    died: Path, look: Callable[[Path], int], tmp_path: Path
) -> None:
    """With the -wal file of a lab that was killed beside it."""
    size = (died / FILE_NAME).stat().st_size
    for keep in cuts(size, 160, 2):
        found = told_or_found(look, copied(died, tmp_path, FILE_NAME, keep))
        assert found == TRIALS or (isinstance(found, str) and "\n" not in found)


def test_a_finished_ledger_without_its_end_is_told(died: Path, tmp_path: Path) -> None:
    finished = tmp_path / "finished"
    shutil.copytree(died, finished)
    with open_ledger(finished / FILE_NAME) as book:
        book.finish()
    with closing(opened(finished)) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    size = (finished / FILE_NAME).stat().st_size
    for keep in cuts(size, 160, 3):
        path = copied(finished, tmp_path, FILE_NAME, keep)
        for opener in (open_ledger, ledger_read.read):
            with pytest.raises(LedgerError) as raised:
                opener(path)
            assert "\n" not in str(raised.value)
