"""Coverage of the intervals of a report, with correlated neighbouring blocks."""
