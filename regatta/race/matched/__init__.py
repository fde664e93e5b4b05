"""Equal loads: finds the rate that each contender holds; then all race at the same rates."""
