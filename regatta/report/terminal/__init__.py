"""What is printed: the screen at the end of a race, and --explain."""
