"""Power: how often races detect a server slowed by a known amount."""
