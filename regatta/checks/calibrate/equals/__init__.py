"""Races of equal copies, in which every difference found is a false alarm."""
