"""Probes: measurements of a few seconds, each with an interval."""
