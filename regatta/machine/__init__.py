"""What a host can do: where sides run, their networks, the kernel's accounts, perf."""
