"""The inputs of a race, recorded before its first trial: claims, baseline, calibration.

With them, a report needs only the ledger.
"""
