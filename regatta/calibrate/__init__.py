"""Proof that the instrument is sound: what is known beforehand is measured, and compared.

The parts (`parts.py`) each measure something whose truth is known, and judge it by goals
(`goals.py`); `run.py` runs them, and `store.py` keeps the result for this machine.
"""
