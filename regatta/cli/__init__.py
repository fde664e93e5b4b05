"""The command line: a file for each verb, and what a person sees while it runs."""
