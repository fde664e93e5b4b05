"""Charts of the standings, in the colours and the order that each design has everywhere."""
