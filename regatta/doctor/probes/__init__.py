"""Measured, not looked up: one file a probe, each a few seconds, each with its interval."""
