"""Proof that the instrument is sound: measurements of known truths.

The parts (`parts.py`) each measure something whose truth is known and judge it by goals
(`goals.py`); `run.py` runs them, and `store.py` keeps the result for this machine.
"""
