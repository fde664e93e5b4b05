"""Runs races: places the sides, starts the programs, counts what they use, and repeats."""
