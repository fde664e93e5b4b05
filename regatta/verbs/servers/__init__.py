"""Two or more servers against each other, from one command line that needs no study."""
