"""The command line: one file a verb, and the display of progress."""
