"""Methods that know numbers and blocks only: intervals, tests, corrections."""
