"""Equal loads: what each contender holds is searched, before all are raced at the same rates."""
