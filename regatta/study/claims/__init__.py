"""Claims about the results: how a study states them, and the figures that others published."""
