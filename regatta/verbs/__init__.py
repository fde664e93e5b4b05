"""The verbs of the command line that are not about one race: one file for each."""
