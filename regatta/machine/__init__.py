"""What a host can do: CPUs, networks, control groups, perf, /proc, and what disturbs a trial."""
