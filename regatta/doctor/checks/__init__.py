"""One file a check: `look(machine, situation, activity)` says what is, from files alone.

Where it can also be measured how much it matters, the file has `measure(finding, bench)`.
"""
