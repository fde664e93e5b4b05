"""Races of a server slowed by a known amount: how often they find it."""
