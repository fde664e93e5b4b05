"""Tests the claims of a study on the trials of a race."""
