"""Regatta: race server designs on your machine."""
