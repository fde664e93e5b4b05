"""How often the intervals of a report hold the truth, where neighbouring blocks are alike."""
