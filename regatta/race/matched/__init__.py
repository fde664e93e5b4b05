"""Equal loads: what each contender holds is searched, then all race at the same rates."""
