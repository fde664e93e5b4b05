"""The significance level of all verdicts and intervals."""

LEVEL = 0.05
"""Family-wise error rate of a table, and the probability that an interval misses the truth."""
