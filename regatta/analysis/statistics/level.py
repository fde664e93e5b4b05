"""How sure is sure, in whatever is said of a race."""

LEVEL = 0.05
"""With this probability something in a table is called different that is not, or an interval misses
the truth."""
