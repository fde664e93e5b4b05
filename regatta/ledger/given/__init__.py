"""What a race is given before its first trial, in tables of its own: claims, baseline, calibration.

A report needs nothing but the ledger.
"""
