"""Regatta: race server designs on your machine."""

__version__ = "0.1.0"
