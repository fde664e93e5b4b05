"""Finds what spoils a race on this machine, measures how much, and says what to do."""
