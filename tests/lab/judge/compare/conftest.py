"""Analyses each ledger once for all tests of comparisons."""

import hashlib
import pickle
from importlib import import_module

import pytest

from regatta.judge.analyse import analyse
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

    # `regatta.judge.compare.compare` as an attribute is the function, not the module.
    monkeypatch.setattr(import_module("regatta.judge.compare.compare"), "analyse", analyse_once)
