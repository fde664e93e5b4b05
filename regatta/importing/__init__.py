"""Makes studies of other projects' benchmarks: their servers as contenders, their rankings as
claims."""
