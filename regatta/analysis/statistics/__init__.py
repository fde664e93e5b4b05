"""Methods that know only numbers and blocks: intervals, tests, corrections."""
