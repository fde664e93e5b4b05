"""perf stat: what it can count, how it is started and switched, and its output."""
