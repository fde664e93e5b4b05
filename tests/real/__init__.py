"""`make test-real`: servers that people really have."""
