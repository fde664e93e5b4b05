"""Calibration: measures known truths, to show how often Regatta's verdicts are wrong."""
