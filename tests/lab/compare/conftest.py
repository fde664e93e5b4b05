"""Analyses each ledger once for all tests of comparisons."""

import hashlib
import pickle
from importlib import import_module

import pytest

from regatta.analysis.analyse import analyse
from regatta.analysis.results import Analysis
from regatta.ledger.records import RaceRecord

known: dict[bytes, Analysis] = {}


@pytest.fixture(autouse=True)
def _analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests compare the same race with another one."""

    def analyse_once(ledger: RaceRecord) -> Analysis:
        what = hashlib.sha256(pickle.dumps(ledger)).digest()
        if what not in known:
            known[what] = analyse(ledger)
        return known[what]

    # `regatta.compare.compare` as an attribute is the function, not the module.
    monkeypatch.setattr(import_module("regatta.compare.compare"), "analyse", analyse_once)
