"""Races one study on many machines and compares their verdicts."""
