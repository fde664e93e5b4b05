"""Statistical methods on numbers and blocks: intervals, tests, corrections."""
