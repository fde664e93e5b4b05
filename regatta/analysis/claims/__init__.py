"""Claims of a study, tested on the trials of a race: supported, refuted, undecided, or neither."""
