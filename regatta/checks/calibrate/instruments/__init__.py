"""Checks of the instruments of a trial against known truths."""
