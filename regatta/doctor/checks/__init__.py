"""A file a group of checks: `look_at_…(machine, situation, activity)` says what is, from files.

Where it can also be measured how much it matters, `measure_…(finding, bench)` does.
"""
