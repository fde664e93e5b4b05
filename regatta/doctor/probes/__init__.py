"""Measurements in place of settings: one file a probe, each a few seconds with an interval."""
