"""The kernel's accounts: CPU time of processes, groups and whole CPUs; memory; disturbance."""
