"""One side of a trial: where it runs, its program, and the channel to that program."""
