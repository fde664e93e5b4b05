"""The results of many machines from their ledgers, as of a fleet: what a class has found."""

from collections.abc import Callable, Sequence
from pathlib import Path

from regatta.analysis.analyse import analyse
from regatta.collect.fleet import MachineResult
from regatta.errors import LedgerError
from regatta.ledger.read import read
from regatta.ledger.schema import ledger_path
from regatta.show.json_summary import to_dict

STUDY, RACE = "study_toml", ("created_at", "seed")
"""What tells studies apart, and the races of one study."""


def read_ledgers(paths: Sequence[Path], say: Callable[[str], None]) -> list[MachineResult]:
    """One a race, named by its ledger's path; says which are copies.

    A ledger that cannot be read, or of another study than the first, has a reason instead of a
    result. LedgerError if none can be read.
    """
    found: list[MachineResult] = []
    seen: dict[tuple[str | None, ...], Path] = {}
    study: str | None = None
    for path in dict.fromkeys(paths):
        try:
            ledger = read(ledger_path(path))
            if study not in (None, ledger.meta[STUDY]):
                other = next(iter(seen.values()))
                raise LedgerError(f"{path} is of another study than {other}; collect it by itself")
            race = tuple(map(ledger.meta.get, RACE))
            if race in seen:
                say(f"{path} is a copy of {seen[race]}: counted once.")
                continue
            found.append(MachineResult(str(path), to_dict(analyse(ledger))))
            seen[race], study = path, ledger.meta[STUDY]
        except LedgerError as error:
            found.append(MachineResult(str(path), None, str(error)))
    if not seen:
        raise LedgerError(found[0].reason)
    return found
