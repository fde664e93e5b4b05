"""A guided hour: from one run by hand to a race, step by step, with a report of one's own."""
