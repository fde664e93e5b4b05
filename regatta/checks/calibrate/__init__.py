"""Calibration: measures known truths, to show how often Regatta's verdicts are wrong.

Each part measures something whose truth is known and judges it by goals (`goals.py`).
`run.py` runs the parts; `store.py` keeps the result for this machine.
"""
