"""A file a group of checks: `inspect_…(machine, setup, activity)` says what is, from files.

Where it can also be measured how much it matters, `measure_…(finding, bench)` does.
"""
