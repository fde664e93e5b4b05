"""Analyses each ledger once for all tests of comparisons."""

import hashlib
import pickle

import pytest

from regatta.judge.analyse import analyse
from regatta.judge.compare import compare
from regatta.judge.results import Analysis
from regatta.record.records import RaceRecord

known: dict[bytes, Analysis] = {}


@pytest.fixture(autouse=True)
def _analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests compare the same race with another one."""

    def analyse_once(ledger: RaceRecord) -> Analysis:
        what = hashlib.sha256(pickle.dumps(ledger)).digest()
        if what not in known:
            known[what] = analyse(ledger)
        return known[what]

    monkeypatch.setattr(compare, "analyse", analyse_once)
