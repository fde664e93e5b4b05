"""Analyses before and during a race: power, standings so far, precision so far."""
