"""Races of equal copies: whatever they are found to differ by is wrong."""
