"""The checks, grouped by subject.

`inspect_…(machine, setup, activity)` reads the state of the machine from files;
`measure_…(finding, bench)` measures how much it matters, where that is possible.
"""
